"""A simple reading of replies in Anthropic's protocol, written apart from the adapter and compared with it.

It knows the vendor's usual form and nothing of cuts, repeated starts or broken ends.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Reading:
    blocks: dict[int, dict[str, Any]] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    finish: str = ""
    container: dict[str, Any] | None = None
    whole: bool = False
    error: Any = None

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """The blocks of these kinds, in order."""
        return [block for block in self.blocks.values() if block["type"] in kinds]

    @property
    def hosted(self) -> list[dict[str, Any]]:
        """The blocks of all other kinds than the model's own."""
        own = ("text", "thinking", "redacted_thinking", "tool_use")
        return [block for block in self.blocks.values() if block["type"] not in own]

    @property
    def tokens(self) -> tuple[int, int, int, int, int]:
        """Input, read from the cache, written to it, output, reasoning; other models' passes included."""
        passes = [self.usage, *(one for one in self.usage.get("iterations") or [] if one["type"] != "message")]
        read, written, fresh, output = (
            sum(one.get(key) or 0 for one in passes)
            for key in ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens", "output_tokens")
        )
        thought = (self.usage.get("output_tokens_details") or {}).get("thinking_tokens") or 0
        return fresh + read + written, read, written, output, thought


def read(body: bytes) -> Reading:
    """All that a good reply says."""
    reading = Reading()
    text = body.decode().strip()
    if text.startswith("{"):
        _whole(reading, json.loads(text))
        return reading
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith("data:"):
            try:
                _event(reading, json.loads(line[5:]))
            except ValueError:
                reading.error = "no JSON"
    return reading


def _whole(reading: Reading, reply: dict[str, Any]) -> None:
    if reply.get("type") != "message":
        reading.error = reply
        return
    reading.blocks = dict(enumerate(reply["content"]))
    reading.usage, reading.finish, reading.whole = reply["usage"], reply["stop_reason"], True
    reading.container = reply.get("container")


def _event(reading: Reading, event: dict[str, Any]) -> None:
    match event.get("type"):
        case "message_start":
            reading.usage |= event["message"]["usage"]
        case "content_block_start":
            reading.blocks[event["index"]] = {**event["content_block"], "json": ""}
        case "content_block_delta":
            _delta(reading.blocks[event["index"]], event["delta"])
        case "content_block_stop":
            block = reading.blocks[event["index"]]
            given = block.pop("json")
            if "input" in block or given:
                block["input"] = json.loads(given) if given else block.get("input", {})
        case "message_delta":
            reading.finish = event["delta"]["stop_reason"]
            reading.container = event["delta"].get("container")
            reading.usage |= event.get("usage") or {}
        case "message_stop":
            reading.whole = True
        case "ping":
            pass
        case _:
            reading.error = event


def _delta(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "input_json_delta":
            block["json"] += delta["partial_json"]
        case "citations_delta":
            block["citations"].append(delta["citation"])
        case _:
            raise AssertionError(f"the simple reading does not know {delta['type']}")
