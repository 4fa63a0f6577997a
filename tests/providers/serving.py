"""A chat server that answers with given bytes, for adapters under test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

import httpx

from perdure.contracts.messages import AssistantMessage, TextPart, UserMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.openai_chat import ChatProvider
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


def serving(
    handler: Handler,
    *,
    settings: ProviderSettings | None = None,
    environ: Mapping[str, str] | None = None,
    name: str = "openai",
    **endpoint: Any,
) -> ChatProvider:
    known = ProviderSettings().endpoint(name)
    values = {**(known.model_dump() if known else {"base_url": "https://models.example/v1"}), **endpoint}
    return ChatProvider(
        name,
        Endpoint.model_validate(values),
        key=KEY,
        settings=settings,
        environ=environ,
        transport=httpx.MockTransport(handler),
    )


async def pieces_of(provider: ChatProvider, request: ModelRequest | None = None) -> list[Piece]:
    request = request or asking(model=f"{provider.name}:gpt-5-mini")
    async with aclosing(provider.stream(request)) as pieces:
        found = [piece async for piece in pieces]
    await provider.close()
    return found


def assembled(pieces: Iterable[Piece], model: str = "openai:gpt-5-mini") -> AssistantMessage:
    assembler = Assembler("t1s1", model)
    for piece in pieces:
        assembler.add(piece)
    return assembler.message()


async def answer(
    handler: Handler, *, name: str = "openai", request: ModelRequest | None = None, **endpoint: Any
) -> AssistantMessage:
    """The message that an adapter makes of what ``handler`` replies."""
    return assembled(await pieces_of(serving(handler, name=name, **endpoint), request), f"{name}:gpt-5-mini")
