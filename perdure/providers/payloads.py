"""The JSON values of a reply, whether it was streamed as events or sent whole, whatever its content type claims."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from pydantic import JsonValue

from perdure.contracts.errors import BadReplyError, ProviderError
from perdure.providers.http import Reply
from perdure.providers.lenient import loads
from perdure.providers.sse import OversizeEventError, SseEvent, SseReader

MAX_WHOLE_REPLY = 64 * 1024 * 1024
"""Bytes of a reply that is not streamed, at most."""

Patience = Callable[[], float | None]
"""How many seconds the next piece of a reply may take: None as long as the connection allows, a number once the answer
is whole. From then on silence, or a broken connection, is an end like any other."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One JSON value of a reply. ``event`` is the name of its event, empty when it has none."""

    event: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Done:
    """The word ``[DONE]``: nothing of meaning follows."""


async def payloads(reply: Reply, patience: Patience) -> AsyncGenerator[Payload | Done, None]:
    """The values of ``reply`` as they come. Raises ProviderError: BadReplyError for what is neither JSON nor events."""
    async with aclosing(_patient(reply, patience)) as chunks:
        head = await _head(chunks)
        if head[:1] in (b"{", b"[", b"<"):
            yield await _whole(reply, head, chunks)
            return
        reader = SseReader()
        for event in _fed(reply, reader, head):
            yield _payload(reply, event)
        async for chunk in chunks:
            for event in _fed(reply, reader, chunk):
                yield _payload(reply, event)
        for event in _meant(reader.end()):
            yield _payload(reply, event)


async def _patient(reply: Reply, patience: Patience) -> AsyncGenerator[bytes, None]:
    async with aclosing(reply.chunks()) as chunks:
        while True:
            try:
                async with asyncio.timeout(patience()):
                    chunk = await anext(chunks)
            except (StopAsyncIteration, TimeoutError):
                return
            except ProviderError:
                if patience() is None:
                    raise
                return
            yield chunk


async def _head(chunks: AsyncGenerator[bytes, None]) -> bytes:
    """The reply from its first byte on that means anything: what kind of reply it is shows there, not in a header."""
    head = b""
    async for chunk in chunks:
        head = (head + chunk).removeprefix(b"\xef\xbb\xbf").lstrip()
        if len(head) > 2:
            break
    return head


async def _whole(reply: Reply, head: bytes, chunks: AsyncGenerator[bytes, None]) -> Payload:
    body = bytearray(head)
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_WHOLE_REPLY:
            raise BadReplyError(reply.provider, "the reply is too large to read", request_id=reply.request_id)
    try:
        return Payload("", loads(bytes(body)))
    except ValueError:
        kind = "a web page" if body.startswith(b"<") else "no whole JSON"
        raise BadReplyError(
            reply.provider, f"the reply is {kind}; is base_url right?", request_id=reply.request_id
        ) from None


def _meant(events: list[SseEvent]) -> list[SseEvent]:
    # Data that starts with a colon is a comment that a gateway wrapped once too often.
    return [event for event in events if event.data and not event.data.startswith(":")]


def _fed(reply: Reply, reader: SseReader, chunk: bytes) -> list[SseEvent]:
    try:
        return _meant(reader.feed(chunk))
    except OversizeEventError as error:
        raise BadReplyError(reply.provider, f"the reply holds {error}", request_id=reply.request_id) from None


def _payload(reply: Reply, event: SseEvent) -> Payload | Done:
    if event.data.strip() == "[DONE]":
        return Done()
    try:
        return Payload(event.event, loads(event.data))
    except ValueError:
        if event.event == "error":
            return Payload(event.event, event.data)
        raise BadReplyError(reply.provider, "a piece of the reply is no JSON", request_id=reply.request_id) from None
