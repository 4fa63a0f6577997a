"""A simple reading of chat replies, written apart from the adapter and compared with it.

It knows each server's usual form and nothing of cuts, odd numbering or broken ends.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_THINK = re.compile(r"\s*<think>(.*?)</think>\s*", re.DOTALL)


@dataclass(slots=True)
class Reading:
    text: str = ""
    reasoning: str = ""
    calls: dict[Any, list[str]] = field(default_factory=dict)
    usage: tuple[int, int] = (0, 0)
    finish: str = ""
    error: Any = None


def read(body: bytes) -> Reading:
    """All that a good reply says."""
    reading = Reading()
    for value in _values(body):
        if value.get("error"):
            reading.error = value["error"]
        for choice in value.get("choices") or []:
            message = choice.get("delta") or choice.get("message") or {}
            _content(reading, message)
            for position, call in enumerate(message.get("tool_calls") or []):
                entry = reading.calls.setdefault(call.get("index", position), ["", "", ""])
                function = call["function"]
                entry[0] = entry[0] or call.get("id") or ""
                entry[1] = entry[1] or function.get("name") or ""
                entry[2] += function.get("arguments") or ""
            reading.finish = choice.get("finish_reason") or reading.finish
        usage = value.get("usage")
        if usage:
            reading.usage = (usage["prompt_tokens"], usage["completion_tokens"])
    if thought := _THINK.match(reading.text):
        reading.reasoning, reading.text = reading.reasoning + thought[1], reading.text[thought.end() :]
    return reading


def _content(reading: Reading, message: dict[str, Any]) -> None:
    content = message.get("content") or ""
    if isinstance(content, list):
        for part in content:
            if part["type"] == "thinking":
                reading.reasoning += "".join(item["text"] for item in part["thinking"])
            elif part["type"] == "text":
                reading.text += part["text"]
    else:
        reading.text += content
    reading.text += message.get("refusal") or ""
    reading.reasoning += message.get("reasoning_content") or message.get("reasoning") or ""


def _values(body: bytes) -> list[dict[str, Any]]:
    text = body.decode().strip()
    if text.startswith("{"):
        return [json.loads(text)]
    lines = [line[5:].strip() for line in text.replace("\r\n", "\n").split("\n") if line.startswith("data:")]
    return [_value(line) for line in lines if line and line != "[DONE]"]


def _value(line: str) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except ValueError:
        return {"error": "no JSON"}
