"""A Gemini server that answers with given bytes, for the adapter under test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import httpx

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.catalogue import CATALOGUE, Endpoint, ProviderSettings
from perdure.providers.gemini import GeminiProvider
from perdure.providers.stream import Piece
from tests.providers.serving import KEY, Handler, asking, assembled

MODEL = "gemini:gemini-3-pro"


def text(said: str, **beside: object) -> dict[str, Any]:
    return {"text": said, **beside}


def called(name: str, arguments: object, call_id: str = "", **beside: object) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": arguments, **({"id": call_id} if call_id else {})}, **beside}


def chunk(*parts: object, finish: str = "", usage: object = None, **candidate: object) -> dict[str, Any]:
    """One chunk as Google writes it: a candidate with these parts."""
    ended = {"finishReason": finish} if finish else {}
    content = {"parts": list(parts), "role": "model"}
    counted = {"usageMetadata": usage} if usage else {}
    return {"candidates": [{"content": content, "index": 0, **ended, **candidate}], "responseId": "r-1", **counted}


def events(*values: object) -> bytes:
    return "".join(f"data: {json.dumps(value)}\r\n\r\n" for value in values).encode()


def serving(
    handler: Handler,
    *,
    settings: ProviderSettings | None = None,
    environ: Mapping[str, str] | None = None,
    **endpoint: Any,
) -> GeminiProvider:
    values = {**CATALOGUE["gemini"].model_dump(), **endpoint}
    return GeminiProvider(
        "gemini",
        Endpoint.model_validate(values),
        key=KEY,
        settings=settings,
        environ=environ,
        transport=httpx.MockTransport(handler),
    )


async def pieces_of(
    provider: GeminiProvider, request: ModelRequest | None = None, *, seen: list[Piece] | None = None
) -> list[Piece]:
    """The pieces of one answer; ``seen`` gets those that came before an error."""
    found = [] if seen is None else seen
    async with aclosing(provider.stream(request or asking(model=MODEL))) as pieces:
        async for piece in pieces:
            found.append(piece)
    await provider.close()
    return found


async def answer(handler: Handler, request: ModelRequest | None = None, **endpoint: Any) -> AssistantMessage:
    """The message that the adapter makes of what ``handler`` replies."""
    return assembled(await pieces_of(serving(handler, **endpoint), request), MODEL)
