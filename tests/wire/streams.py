"""What must hold of every recorded stream, in whatever pieces it comes and wherever it ends."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Iterable
from itertools import pairwise
from typing import Protocol

import httpx
import pytest

from perdure.contracts.errors import BadReplyError, ProviderError, ProviderNetworkError
from perdure.contracts.messages import AssistantMessage
from perdure.providers.completion import whole
from perdure.providers.http import Reply
from perdure.providers.stream import Piece
from tests.providers.serving import assembled, pieces_of, serving, streamed
from tests.wire.recordings import Exchange

Decoding = Callable[[Reply], AsyncGenerator[Piece, None]]


class MessageOf(Protocol):
    async def __call__(self, exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
        """What the adapter makes of a good reply whose body comes in these chunks, and breaks at their end."""
        ...


async def message_by(
    decoding: Decoding, provider: str, exchange: Exchange, chunks: Iterable[bytes], *, broken: bool
) -> AssistantMessage:
    """What ``decoding`` makes of a good reply whose body comes in these chunks."""
    fail = httpx.RemoteProtocolError("peer closed connection") if broken else None
    response = httpx.Response(200, headers=exchange.headers, content=streamed(chunks, fail))
    pieces = whole(provider, decoding(Reply(provider, response)))
    return assembled([piece async for piece in pieces], f"{provider}:x")


async def check_error_reply(exchange: Exchange, provider: str) -> None:
    """Fail unless a reply with an error's status is a typed error with that status."""
    reply = httpx.Response(exchange.status, headers=exchange.headers, content=exchange.body)
    with pytest.raises(ProviderError) as caught:
        await pieces_of(serving(lambda _: reply, name=provider))
    assert caught.value.status == exchange.status, exchange.name


def whole_streams(exchanges: Iterable[Exchange], is_whole: Callable[[bytes], object], largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    found = [
        exchange
        for exchange in exchanges
        if exchange.status == 200 and b"data:" in exchange.body[:2000] and len(exchange.body) <= largest
        and not exchange.broken and is_whole(exchange.body)
    ]  # fmt: skip
    assert found
    return sorted(found, key=lambda exchange: len(exchange.body))


async def check_chunks(exchange: Exchange, message_of: MessageOf, *, single_bytes: bool = True) -> None:
    """Fail unless the stream decodes equally in random chunks, in single bytes, and with other ends of lines."""
    chance, body = random.Random(7), exchange.body
    expected = await message_of(exchange, body)
    crlf = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    ways = [[crlf], [bytes([byte]) for byte in body]] if single_bytes else [[crlf]]
    for _ in range(3):
        cuts = sorted({0, len(body), *(chance.randrange(len(body)) for _ in range(chance.randrange(1, 60)))})
        ways.append([body[start:end] for start, end in pairwise(cuts)])
    for chunks in ways:
        assert await message_of(exchange, *chunks) == expected, exchange.name


async def check_every_byte(exchange: Exchange, message_of: MessageOf, end: bytes, *, late_usage: bool = False) -> None:
    """Fail unless the stream decodes equally when it is cut at any byte, and is a typed error when it ends before
    ``end``. With ``late_usage`` the usage stands behind the end, and may be missing."""
    body = exchange.body
    expected = await message_of(exchange, body)
    finish = body.index(end)
    for place in range(len(body)):
        assert await message_of(exchange, body[:place], body[place:]) == expected
        try:
            early = await message_of(exchange, body[:place])
        except BadReplyError:
            continue
        assert place > finish, f"{exchange.name} ended at byte {place} was taken for whole"
        if late_usage:
            early = early.model_copy(update={"usage": expected.usage, "cost": expected.cost})
        assert early == expected


async def check_break(exchange: Exchange, message_of: MessageOf, end: bytes) -> None:
    """Fail unless the stream is a network error when the connection breaks before the event that holds ``end``."""
    early = exchange.body[: exchange.body.index(end)]
    early = early[: early.rfind(b"\n") + 1]
    with pytest.raises(ProviderNetworkError):
        await message_of(exchange, early, broken=True)
