from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from perdure.contracts.errors import ProviderError
from perdure.contracts.messages import AssistantMessage
from perdure.providers.adapter import decoded
from perdure.providers.dialects import DIALECTS
from perdure.providers.http import Reply
from perdure.providers.openai_responses_decoding import ResponsesDecoder
from perdure.providers.stream import Piece
from tests.wire.comparing import capture_counts, provider_counts
from tests.wire.plain_responses import read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded
from tests.wire.streams import check_break, check_chunks, check_error_reply, check_every_byte, message_by, whole_streams

pytestmark = needs_recordings

END = b"event: response.completed"
TITLES = {"openai-responses": "OpenAI Responses", "deepseek": "DeepSeek, Responses"}
SOURCES = (*TITLES, "captures")


def exchanges(source: str) -> list[Exchange]:
    if source == "captures":
        return list(captured("*-responses-*.txt"))
    others = ("chat/completions", "input_tokens", "compact")
    return [exchange for exchange in recorded(source) if not exchange.url.endswith(others)]


async def message_of(exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
    """What the adapter makes of a good reply whose body comes in these chunks."""

    def decoding(reply: Reply) -> AsyncGenerator[Piece, None]:
        return decoded(reply, ResponsesDecoder(reply, DIALECTS["openai"], "origin"))

    return await message_by(decoding, "openai-responses", exchange, chunks, broken=broken)


@pytest.mark.parametrize("source", SOURCES)
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(source: str) -> None:
    counts: Counter[str] = Counter()
    for exchange in exchanges(source):
        if exchange.status >= 400:
            counts["error status"] += 1
            await check_error_reply(exchange, "openai-responses")
            continue
        plain = read(exchange.body)
        if exchange.broken or plain.error or not plain.finish:
            counts["error in the reply"] += 1
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
    errors = counts["error status"], counts["error in the reply"]
    if source == "captures":
        assert capture_counts("OpenAI Responses") == (counts["whole"], *errors)
    else:
        assert provider_counts(TITLES[source])[:2] == (counts["whole"], sum(errors))


def streams(source: str, largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    return whole_streams(exchanges(source), lambda body: read(body).finish, largest)


@pytest.mark.parametrize("source", SOURCES)
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(source: str) -> None:
    for exchange in streams(source, 60_000)[:6]:
        await check_chunks(exchange, message_of)


@pytest.mark.parametrize(
    ("source", "largest"), [pytest.param("openai-responses", 16_000, marks=pytest.mark.slow), ("captures", 4_000)]
)
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(source: str, largest: int) -> None:
    await check_every_byte(streams(source, largest)[0], message_of, END)


@pytest.mark.parametrize("source", SOURCES)
async def test_a_stream_that_breaks_before_its_end_is_a_network_error(source: str) -> None:
    for exchange in streams(source, 60_000)[:6]:
        await check_break(exchange, message_of, END)
