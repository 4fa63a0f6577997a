"""The JSON values of a reply, whether it was streamed as events or sent whole, whatever its content type claims."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from pydantic import JsonValue

from perdure.contracts.errors import ProviderError
from perdure.providers.http import Reply
from perdure.providers.lenient import loads
from perdure.providers.sse import OversizeEventError, SseEvent, SseReader

DONE = "[DONE]"
"""The value of the word with which some servers say that nothing of meaning follows."""

DRAIN = 0.5
"""Seconds for the connection to end by itself after the last event, so that it can be used again."""

Patience = Callable[[], float | None]
"""How many seconds the next piece of a reply may take: None as long as the connection allows, a number once the answer
is whole. From then on silence, or a broken connection, is an end like any other."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One JSON value of a reply. ``event`` is the name of its event, empty when it has none. ``whole`` is a reply that
    was not streamed."""

    event: str
    value: JsonValue
    whole: bool = False

    @property
    def first(self) -> JsonValue:
        """The value, or the first of a list of them, as which some servers send an error."""
        return self.value[0] if isinstance(self.value, list) and self.value else self.value


async def payloads(reply: Reply, patience: Patience) -> AsyncGenerator[Payload, None]:
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
        if head and not reader.spoken:
            raise reply.astray("no event stream")


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
    return value_of(reply, await reply.read(head, chunks))


def value_of(reply: Reply, body: bytes) -> Payload:
    """The one value that ``body`` is. Raises BadReplyError, which quotes nothing: it may be anybody's data."""
    try:
        return Payload("", loads(body), whole=True)
    except ValueError:
        if body.lstrip().startswith(b"<"):
            raise reply.astray("a web page") from None
        raise reply.bad("the reply is no whole JSON; is base_url right?") from None


def _meant(events: list[SseEvent]) -> list[SseEvent]:
    # Data that starts with a colon is a comment that a gateway wrapped once too often.
    return [event for event in events if event.data and not event.data.startswith(":")]


def _fed(reply: Reply, reader: SseReader, chunk: bytes) -> list[SseEvent]:
    try:
        return _meant(reader.feed(chunk))
    except OversizeEventError as error:
        raise reply.bad(f"the reply holds {error}") from None


def _payload(reply: Reply, event: SseEvent) -> Payload:
    if event.data.strip() == DONE:
        return Payload(event.event, DONE)
    try:
        return Payload(event.event, loads(event.data))
    except ValueError:
        if event.event == "error":
            return Payload(event.event, event.data)
        raise reply.bad("a piece of the reply is no JSON") from None
