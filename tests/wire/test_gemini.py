from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from perdure.contracts.errors import BadReplyError, ProviderError
from perdure.contracts.messages import AssistantMessage, AssistantPart
from perdure.providers.adapter import decoded
from perdure.providers.gemini_decoding import GeminiDecoder
from perdure.providers.http import Reply
from perdure.providers.stream import Piece
from tests.wire.comparing import capture_counts, provider_counts
from tests.wire.plain_gemini import read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded
from tests.wire.streams import check_break, check_chunks, check_error_reply, check_every_byte, message_by, whole_streams

pytestmark = needs_recordings

FINISH = {"STOP": "stop", "FUNCTION_CALL": "calls", "MAX_TOKENS": "length", "SAFETY": "refused"}


def exchanges(source: str) -> list[Exchange]:
    found = captured("*gemini*.txt") if source == "captures" else recorded(source)
    return [exchange for exchange in found if "enerateContent" in exchange.url]


async def message_of(exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
    """What the adapter makes of a good reply whose body comes in these chunks."""

    def decoding(reply: Reply) -> AsyncGenerator[Piece, None]:
        return decoded(reply, GeminiDecoder(reply, "gemini:x"))

    return await message_by(decoding, "gemini", exchange, chunks, broken=broken)


def signature_of(part: AssistantPart) -> object:
    opaque = getattr(part, "opaque", None)
    return opaque and (opaque.data.get("thoughtSignature") or opaque.data.get("part", {}).get("thoughtSignature"))


@pytest.mark.parametrize("source", ["gemini", "captures"])
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(source: str) -> None:
    counts: Counter[str] = Counter()
    for exchange in exchanges(source):
        if exchange.status >= 400:
            counts["error status"] += 1
            await check_error_reply(exchange, "gemini")
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
    errors = counts["error status"], counts["error in the reply"]
    if source == "captures":
        assert capture_counts("Gemini generateContent") == (counts["whole"], *errors)
    else:
        assert provider_counts("Gemini")[:2] == (counts["whole"], sum(errors) + counts["all tokens thought away"])


def streams(source: str, largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    return whole_streams(exchanges(source), lambda body: read(body).finish and not read(body).error, largest)


@pytest.mark.parametrize("source", ["gemini", "captures"])
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(source: str) -> None:
    for number, exchange in enumerate(streams(source, 40_000)):
        await check_chunks(exchange, message_of, single_bytes=number < 6)


@pytest.mark.parametrize("source", ["gemini", "captures"])
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(source: str) -> None:
    for exchange in streams(source, 4_000)[:2]:
        await check_every_byte(exchange, message_of, b'"finishReason"', late_usage=True)


@pytest.mark.parametrize("source", ["gemini", "captures"])
async def test_a_stream_that_breaks_before_its_finish_is_a_network_error(source: str) -> None:
    for exchange in streams(source, 60_000):
        await check_break(exchange, message_of, b'"finishReason"')


async def test_an_array_that_was_streamed_without_events_decodes_equally_and_never_when_it_is_cut() -> None:
    arrays = [exchange for exchange in exchanges("gemini") if exchange.body.startswith(b"[")]
    assert len(arrays) == 5
    for exchange in arrays:
        expected = await message_of(exchange, exchange.body)
        events = b"".join(b"data: " + json.dumps(value).encode() + b"\r\n\r\n" for value in json.loads(exchange.body))
        assert await message_of(exchange, events) == expected
        with pytest.raises(BadReplyError):
            await message_of(exchange, exchange.body[:-3])
