"""A simple reading of Gemini's replies, written apart from the adapter and compared with it.

It takes a reply as Google writes it and knows nothing of cuts or broken ends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Reading:
    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)
    hosted: list[dict[str, Any]] = field(default_factory=list)
    reports: dict[str, Any] = field(default_factory=dict)
    usage: tuple[int, int, int, int] = (0, 0, 0, 0)
    finish: str = ""
    error: Any = None

    @property
    def empty(self) -> bool:
        return not (self.text or self.reasoning or self.calls or self.hosted)


def read(body: bytes) -> Reading:
    """All that a good reply says. Usage is (input, cached, output, of it reasoning)."""
    reading = Reading()
    for value in _values(body):
        reading.error = reading.error or value.get("error")
        for candidate in value.get("candidates", ()):
            for part in candidate["content"].get("parts", ()):
                _part(reading, part)
            for name in ("groundingMetadata", "urlContextMetadata"):
                reading.reports[name] = candidate.get(name) or reading.reports.get(name)
            reading.finish = candidate.get("finishReason") or reading.finish
        if "usageMetadata" in value:
            counts = value["usageMetadata"]
            thoughts = counts.get("thoughtsTokenCount", 0)
            reading.usage = (
                counts["promptTokenCount"] + counts.get("toolUsePromptTokenCount", 0),
                counts.get("cachedContentTokenCount", 0),
                counts.get("candidatesTokenCount", 0) + thoughts,
                thoughts,
            )
    return reading


def _part(reading: Reading, part: dict[str, Any]) -> None:
    if "thoughtSignature" in part:
        reading.signatures.append(part["thoughtSignature"])
    if "functionCall" in part:
        call = part["functionCall"]
        reading.calls.append((call.get("id", ""), call["name"], call["args"]))
    elif "text" not in part:
        reading.hosted.append(part)
    elif part.get("thought"):
        reading.reasoning += part["text"]
    else:
        reading.text += part["text"]


def _values(body: bytes) -> list[dict[str, Any]]:
    text = body.decode().strip()
    if text.startswith(("{", "[")):
        value = json.loads(text)
        return value if isinstance(value, list) else [value]
    lines = [line[5:] for line in text.replace("\r\n", "\n").split("\n") if line.startswith("data:")]
    return [_value(line) for line in lines]


def _value(line: str) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except ValueError:
        return {"error": "no JSON"}
