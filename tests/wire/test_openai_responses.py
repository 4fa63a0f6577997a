from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import httpx
import pytest

from perdure.contracts.errors import BadReplyError, ProviderError, ProviderNetworkError
from perdure.contracts.messages import AssistantMessage
from perdure.providers.completion import whole
from perdure.providers.dialects import DIALECTS
from perdure.providers.faults import fault
from perdure.providers.http import Reply
from perdure.providers.openai_responses import decoded
from tests.providers.serving import assembled, streamed
from tests.wire.plain_responses import read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded

pytestmark = needs_recordings

EXPECTED = {
    "openai-responses": {"whole": 88, "error status": 3, "unfinished": 3},
    "deepseek": {"whole": 5},
    "captures": {"whole": 29, "error status": 6, "error in the reply": 3},
}


def exchanges(source: str) -> list[Exchange]:
    if source == "captures":
        return list(captured("*-responses-*.txt"))
    others = ("chat/completions", "input_tokens", "compact")
    return [exchange for exchange in recorded(source) if not exchange.url.endswith(others)]


async def message_of(exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
    """What the adapter makes of a good reply whose body comes in these chunks."""
    fail = httpx.RemoteProtocolError("peer closed connection") if broken else None
    response = httpx.Response(200, headers=exchange.headers, content=streamed(chunks, fail))
    pieces = whole("openai-responses", decoded(Reply("openai-responses", response), DIALECTS["openai"], "origin"))
    return assembled([piece async for piece in pieces], "openai-responses:x")


@pytest.mark.parametrize("source", EXPECTED)
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(source: str) -> None:
    counts: Counter[str] = Counter()
    for exchange in exchanges(source):
        if exchange.status >= 400:
            counts["error status"] += 1
            found = fault("openai-responses", exchange.body, status=exchange.status, headers=exchange.headers)
            assert found.status == exchange.status, exchange.name
            continue
        plain = read(exchange.body)
        if exchange.broken or plain.error or not plain.finish:
            counts["unfinished" if not (exchange.broken or plain.error) else "error in the reply"] += 1
            with pytest.raises(ProviderError):
                await message_of(exchange, exchange.body, broken=exchange.broken)
            continue
        counts["whole"] += 1
        message = await message_of(exchange, exchange.body)
        answered = plain.text or plain.calls or len(plain.items) != 1
        assert message.text == (plain.text if answered else plain.reasoning), exchange.name
        assert "".join(part.text for part in message.parts if part.kind == "reasoning") == plain.reasoning
        assert [(call.provider_call_id, call.tool, call.arguments_text) for call in message.calls] == plain.calls
        assert all(call.arguments is not None for call in message.calls) or plain.finish == "length"
        usage = message.usage
        counted = (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens)
        assert counted == plain.usage, exchange.name
        assert message.finish == plain.finish, exchange.name
        hosted = [part.opaque.data["item"] for part in message.parts if part.kind == "hosted"]
        ours = ("message", "reasoning", "function_call")
        assert hosted == [item for item in plain.items if item["type"] not in ours], exchange.name
    assert counts == EXPECTED[source]


def streams(source: str, largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    found = [
        exchange
        for exchange in exchanges(source)
        if exchange.status == 200 and exchange.body.startswith(b"event:") and len(exchange.body) <= largest
        and not exchange.broken and read(exchange.body).finish
    ]  # fmt: skip
    return sorted(found, key=lambda exchange: len(exchange.body))


@pytest.mark.parametrize("source", EXPECTED)
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(source: str) -> None:
    chance = random.Random(7)
    chosen = streams(source, 60_000)[:6]
    assert chosen
    for exchange in chosen:
        body = exchange.body
        expected = await message_of(exchange, body)
        for _ in range(3):
            cuts = sorted({0, len(body), *(chance.randrange(len(body)) for _ in range(chance.randrange(1, 60)))})
            chunks = [body[start:end] for start, end in pairwise(cuts)]
            assert await message_of(exchange, *chunks) == expected, exchange.name
        assert await message_of(exchange, *(bytes([byte]) for byte in body)) == expected, exchange.name
        crlf = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        assert await message_of(exchange, crlf) == expected, exchange.name


@pytest.mark.parametrize(
    ("source", "largest"), [pytest.param("openai-responses", 16_000, marks=pytest.mark.slow), ("captures", 4_000)]
)
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(source: str, largest: int) -> None:
    small = streams(source, largest)[:1]
    assert small
    for exchange in small:
        body = exchange.body
        expected = await message_of(exchange, body)
        end = body.index(b"event: response.completed")
        for place in range(len(body)):
            assert await message_of(exchange, body[:place], body[place:]) == expected
            try:
                early = await message_of(exchange, body[:place])
            except BadReplyError:
                continue
            assert place > end, f"{exchange.name} ended at byte {place} was taken for whole"
            assert early == expected


@pytest.mark.parametrize("source", EXPECTED)
async def test_a_stream_that_breaks_before_its_end_is_a_network_error(source: str) -> None:
    for exchange in streams(source, 60_000)[:6]:
        early = exchange.body[: exchange.body.index(b"event: response.completed")]
        with pytest.raises(ProviderNetworkError):
            await message_of(exchange, early, broken=True)
