"""Servers that answer with given bytes, for adapters under test; and what one of the chat protocol says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

import httpx

from perdure.contracts.messages import AssistantMessage, TextPart, UserMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.adapter import Adapter
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.registry import ADAPTERS
from perdure.providers.service import Service
from perdure.providers.stream import Assembler, Piece

SSE = {"content-type": "text/event-stream"}
USAGE = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14, "prompt_tokens_details": {"cached_tokens": 3}}
KEY = "sk-canary-0123456789abcdef"


def user(text: str, message_id: str = "u1") -> UserMessage:
    return UserMessage(message_id=message_id, parts=(TextPart(text=text),))


def asking(*tools: str, model: str = "openai:gpt-5-mini", text: str = "Hello") -> ModelRequest:
    return ModelRequest(model=model, messages=(user(text),), tools=tuple(ToolSpec(name=tool) for tool in tools))


def chunk(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def counted(**usage: object) -> dict[str, object]:
    return {"id": "chatcmpl-1", "choices": [], "usage": {**USAGE, **usage}}


def events(*values: object, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(value)}\n\n" for value in values]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


async def streamed(pieces: Iterable[bytes], fail: Exception | None = None) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    if fail is not None:
        raise fail


def replying(
    *pieces: bytes, status: int = 200, headers: dict[str, str] = SSE, fail: Exception | None = None
) -> Handler:
    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, headers=headers, content=streamed(pieces, fail))

    return handle


Handler = Callable[[httpx.Request], httpx.Response]


def service(
    name: str = "openai",
    *,
    key: str = KEY,
    settings: ProviderSettings | None = None,
    environ: Mapping[str, str] | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    **endpoint: Any,
) -> Service:
    """A known provider, or one of its own, with single values of its endpoint changed."""
    known = ProviderSettings().endpoint(name)
    values = {**(known.model_dump() if known else {"base_url": "https://models.example/v1"}), **endpoint}
    return Service(name, Endpoint.model_validate(values), key, settings or ProviderSettings(), environ or {}, transport)


def serving(handler: Handler, *, name: str = "openai", **more: Any) -> Adapter:
    """The adapter of a provider that answers by ``handler``; ``more`` as in `service`."""
    served = service(name, transport=httpx.MockTransport(handler), **more)
    return ADAPTERS[served.endpoint.protocol](served)


async def pieces_of(
    adapter: Adapter, request: ModelRequest | None = None, *, seen: list[Piece] | None = None
) -> list[Piece]:
    """The pieces of one answer; ``seen`` gets those that came before an error."""
    found = [] if seen is None else seen
    try:
        async with aclosing(adapter.stream(request or asking(model=f"{adapter.name}:gpt-5-mini"))) as pieces:
            async for piece in pieces:
                found.append(piece)
    finally:
        await adapter.close()
    return found


def assembled(pieces: Iterable[Piece], model: str = "openai:gpt-5-mini") -> AssistantMessage:
    assembler = Assembler("t1s1", model)
    for piece in pieces:
        assembler.add(piece)
    return assembler.message()


async def answer(
    handler: Handler,
    request: ModelRequest | None = None,
    *,
    name: str = "openai",
    model: str = "gpt-5-mini",
    **more: Any,
) -> AssistantMessage:
    """The message that an adapter makes of what ``handler`` replies; ``more`` as in `service`."""
    request = request or asking(model=f"{name}:{model}")
    return assembled(await pieces_of(serving(handler, name=name, **more), request), f"{name}:{model}")
