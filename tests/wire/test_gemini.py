from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise

import httpx
import pytest

from perdure.contracts.errors import BadReplyError, ProviderError, ProviderNetworkError
from perdure.contracts.messages import AssistantMessage, AssistantPart
from perdure.providers.completion import whole
from perdure.providers.gemini import decoded
from perdure.providers.http import Reply
from tests.providers.gemini_serving import pieces_of, serving
from tests.providers.serving import assembled, streamed
from tests.wire.plain_gemini import read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded

pytestmark = needs_recordings

FINISH = {"STOP": "stop", "FUNCTION_CALL": "calls", "MAX_TOKENS": "length", "SAFETY": "refused"}


def exchanges(source: str) -> list[Exchange]:
    found = captured("*gemini*.txt") if source == "captures" else recorded(source)
    return [exchange for exchange in found if "enerateContent" in exchange.url]


async def message_of(exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
    """What the adapter makes of a good reply whose body comes in these chunks."""
    fail = httpx.RemoteProtocolError("peer closed connection") if broken else None
    response = httpx.Response(200, headers=exchange.headers, content=streamed(chunks, fail))
    pieces = whole("gemini", decoded(Reply("gemini", response), "gemini:x"))
    return assembled([piece async for piece in pieces], "gemini:x")


def signature_of(part: AssistantPart) -> object:
    opaque = getattr(part, "opaque", None)
    return opaque and (opaque.data.get("thoughtSignature") or opaque.data.get("part", {}).get("thoughtSignature"))


@pytest.mark.parametrize(
    ("source", "expected"), [("gemini", [1, 0, 1, 144]), ("captures", [26, 4, 0, 14])], ids=["gemini", "captures"]
)
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(
    source: str, expected: list[int]
) -> None:
    counts: Counter[str] = Counter()
    for exchange in exchanges(source):
        if exchange.status >= 400:
            counts["error status"] += 1
            reply = httpx.Response(exchange.status, headers=exchange.headers, content=exchange.body)
            with pytest.raises(ProviderError) as caught:
                await pieces_of(serving(lambda _, reply=reply: reply))  # type: ignore[misc] # a default binds it
            assert caught.value.status == exchange.status, exchange.name
            continue
        plain = read(exchange.body)
        if exchange.broken or plain.error or not plain.finish:
            counts["error in the reply"] += 1
            with pytest.raises(ProviderError):
                await message_of(exchange, exchange.body, broken=exchange.broken)
            continue
        if plain.empty and plain.finish == "MAX_TOKENS":
            counts["all tokens thought away"] += 1
            with pytest.raises(BadReplyError, match="allow it more") as used_up:
                await message_of(exchange, exchange.body)
            assert not used_up.value.retryable
            continue
        counts["whole"] += 1
        message = await message_of(exchange, exchange.body)
        answered = plain.text or plain.calls or plain.hosted or FINISH[plain.finish] != "stop"
        assert message.text == (plain.text if answered else plain.reasoning), exchange.name
        assert "".join(part.text for part in message.parts if part.kind == "reasoning") == plain.reasoning
        calls = [(call.provider_call_id, call.tool, call.arguments) for call in message.calls]
        assert calls == plain.calls, exchange.name
        assert [signature for part in message.parts if (signature := signature_of(part))] == plain.signatures
        hosted = [part.opaque.data for part in message.parts if part.kind == "hosted"]
        reports = {name: report for name, report in plain.reports.items() if report}
        assert [data["part"] for data in hosted if "part" in data] == plain.hosted
        assert {name: data[name] for data in hosted for name in data if name != "part"} == reports, exchange.name
        usage = message.usage
        counted = (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens)
        assert counted == plain.usage, exchange.name
        assert message.finish == ("calls" if plain.calls else FINISH[plain.finish]), exchange.name
    kinds = ("error status", "error in the reply", "all tokens thought away", "whole")
    assert [counts[kind] for kind in kinds] == expected, "the counts stand in docs/providers-wire.md as well"


def streams(source: str, largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    found = [
        exchange
        for exchange in exchanges(source)
        if exchange.status == 200 and b"data:" in exchange.body[:2000] and len(exchange.body) <= largest
        and not exchange.broken and (plain := read(exchange.body)).finish and not plain.error
    ]  # fmt: skip
    return sorted(found, key=lambda exchange: len(exchange.body))


@pytest.mark.parametrize("source", ["gemini", "captures"])
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(source: str) -> None:
    chance = random.Random(7)
    found = streams(source, 40_000)
    assert len(found) >= 6
    for exchange in found:
        body = exchange.body
        expected = await message_of(exchange, body)
        for _ in range(3):
            cuts = sorted({0, len(body), *(chance.randrange(len(body)) for _ in range(chance.randrange(1, 60)))})
            chunks = [body[start:end] for start, end in pairwise(cuts)]
            assert await message_of(exchange, *chunks) == expected, exchange.name
        crlf = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        assert await message_of(exchange, crlf) == expected, exchange.name
    for exchange in found[:6]:
        expected = await message_of(exchange, exchange.body)
        assert await message_of(exchange, *(bytes([byte]) for byte in exchange.body)) == expected, exchange.name


@pytest.mark.parametrize("source", ["gemini", "captures"])
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(source: str) -> None:
    small = streams(source, 4_000)[:2]
    assert small
    for exchange in small:
        body = exchange.body
        expected = await message_of(exchange, body)
        finish = body.index(b'"finishReason"')
        for place in range(len(body)):
            assert await message_of(exchange, body[:place], body[place:]) == expected
            try:
                early = await message_of(exchange, body[:place])
            except BadReplyError:
                continue
            assert place > finish, f"{exchange.name} ended at byte {place} was taken for whole"
            assert (early.parts, early.finish) == (expected.parts, expected.finish)


@pytest.mark.parametrize("source", ["gemini", "captures"])
async def test_a_stream_that_breaks_before_its_finish_is_a_network_error(source: str) -> None:
    for exchange in streams(source, 60_000):
        early = exchange.body[: exchange.body.index(b'"finishReason"')]
        early = early[: early.rindex(b"data:")]
        with pytest.raises(ProviderNetworkError):
            await message_of(exchange, early, broken=True)


async def test_an_array_that_was_streamed_without_events_decodes_equally_and_never_when_it_is_cut() -> None:
    arrays = [exchange for exchange in exchanges("gemini") if exchange.body.startswith(b"[")]
    assert len(arrays) == 5
    for exchange in arrays:
        expected = await message_of(exchange, exchange.body)
        events = b"".join(b"data: " + json.dumps(value).encode() + b"\r\n\r\n" for value in json.loads(exchange.body))
        assert await message_of(exchange, events) == expected
        with pytest.raises(BadReplyError):
            await message_of(exchange, exchange.body[:-3])
