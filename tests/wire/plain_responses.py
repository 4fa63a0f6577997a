"""A simple reading of replies of the Responses protocol, written apart from the adapter and compared with it.

It reads the answer that the last event holds whole, and nothing of the pieces before it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Reading:
    """``items`` holds, in order, each reasoning item as its whole JSON and everything else by what it says."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    usage: tuple[int, int, int, int] = (0, 0, 0, 0)
    finish: str = ""
    error: Any = None


def read(body: bytes) -> Reading:
    """All that a good reply says."""
    reading, response = Reading(), _response(body)
    reading.error = response.get("error")
    if reading.error or response.get("status") not in ("completed", "complete", "incomplete"):
        return reading
    thoughts = []
    for item in response["output"]:
        reading.items.append(item)
        if item["type"] == "message":
            texts = (part.get("text") for part in item["content"] if part["type"] == "output_text")
            reading.text += "".join(text or "" for text in texts)
        elif item["type"] == "reasoning":
            thoughts.append("\n\n".join(part["text"] for part in (*item["summary"], *(item.get("content") or []))))
        elif item["type"] == "function_call":
            reading.calls.append((item["call_id"], item["name"], item["arguments"]))
    reading.reasoning = "".join(thoughts)
    if usage := response.get("usage"):
        reading.usage = (
            usage["input_tokens"],
            (usage.get("input_tokens_details") or {}).get("cached_tokens", 0),
            usage["output_tokens"],
            (usage.get("output_tokens_details") or {}).get("reasoning_tokens", 0),
        )
    cut = (response.get("incomplete_details") or {}).get("reason")
    cut = cut or response["status"] == "incomplete"
    reading.finish = "length" if cut else "calls" if reading.calls else "stop"
    return reading


def _response(body: bytes) -> dict[str, Any]:
    text = body.decode().strip()
    if text.startswith("{"):
        return dict(json.loads(text))
    last: dict[str, Any] = {}
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith("data: {"):
            last = json.loads(line[6:])
    return dict(last.get("response") or last)
