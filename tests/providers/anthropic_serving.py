"""A server of Anthropic's Messages protocol that answers with given bytes, for the adapter under test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import httpx

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.anthropic import AnthropicProvider
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.stream import Piece
from tests.providers.serving import KEY, Handler, assembled, user

Json = dict[str, Any]

MODEL = "anthropic:claude-sonnet-4-5"
ORIGIN = "anthropic:api.anthropic.com"
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 1}


def asking(*tools: str, model: str = MODEL, text: str = "Hello") -> ModelRequest:
    return ModelRequest(model=model, messages=(user(text),), tools=tuple(ToolSpec(name=tool) for tool in tools))


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


def serving(
    handler: Handler,
    *,
    settings: ProviderSettings | None = None,
    environ: Mapping[str, str] | None = None,
    name: str = "anthropic",
    **endpoint: Any,
) -> AnthropicProvider:
    known = ProviderSettings().endpoint(name)
    values = {**(known.model_dump() if known else {"base_url": "https://models.example/v1"}), **endpoint}
    return AnthropicProvider(
        name,
        Endpoint.model_validate(values),
        key=KEY,
        settings=settings,
        environ=environ,
        transport=httpx.MockTransport(handler),
    )


async def pieces_of(provider: AnthropicProvider, request: ModelRequest) -> list[Piece]:
    try:
        async with aclosing(provider.stream(request)) as pieces:
            return [piece async for piece in pieces]
    finally:
        await provider.close()


async def answer(handler: Handler, request: ModelRequest | None = None) -> AssistantMessage:
    """The message that the adapter makes of what ``handler`` replies."""
    return assembled(await pieces_of(serving(handler), request or asking()), MODEL)
