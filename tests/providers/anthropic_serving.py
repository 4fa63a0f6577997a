"""What a server of Anthropic's Messages protocol says."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from tests.providers.serving import answer as answer_any
from tests.providers.serving import serving as serving_any

Json = dict[str, Any]

MODEL = "anthropic:claude-sonnet-4-5"
ORIGIN = "anthropic:api.anthropic.com"
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 1}


def start(message_id: str = "msg_1", **usage: object) -> Json:
    message = {"id": message_id, "type": "message", "role": "assistant", "content": [], "usage": {**USAGE, **usage}}
    return {"type": "message_start", "message": message}


def block(index: int, content: Json, *deltas: Json) -> list[Json]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(index: int, *pieces: str) -> list[Json]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return block(index, {"type": "text", "text": ""}, *deltas)


def thinking(index: int, *pieces: str, signature: str = "c2ln") -> list[Json]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    signed = {"type": "signature_delta", "signature": signature}
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas, signed)


def tool_use(index: int, *pieces: str, call_id: str = "toolu_1", name: str = "read") -> list[Json]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]
    return block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, *deltas)


def end(reason: str | None = "end_turn", **usage: object) -> list[Json]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 4, **usage}}, {"type": "message_stop"}]


def events(*values: Json | list[Json]) -> bytes:
    flat = [event for value in values for event in (value if isinstance(value, list) else [value])]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in flat).encode()


serving = partial(serving_any, name="anthropic", protocol="anthropic")
answer = partial(answer_any, name="anthropic", protocol="anthropic", model="claude-sonnet-4-5")
