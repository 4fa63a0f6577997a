from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from perdure.contracts.errors import ProviderError
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.adapter import decoded
from perdure.providers.anthropic_decoding import MessagesDecoder
from perdure.providers.anthropic_parts import AssistantBlocks
from perdure.providers.anthropic_usage import Tally
from perdure.providers.http import Reply
from perdure.providers.stream import Piece
from perdure.providers.tool_names import ToolNames
from tests.wire.comparing import capture_counts, provider_counts
from tests.wire.plain_anthropic import Reading, read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded
from tests.wire.streams import check_break, check_chunks, check_error_reply, check_every_byte, message_by, whole_streams

pytestmark = needs_recordings

MODEL = "anthropic:claude-sonnet-4-5"
ORIGIN = "anthropic:api.anthropic.com"
FOLDERS = ("anthropic", "captures")
FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "calls"}


def exchanges(folder: str) -> list[Exchange]:
    """The exchanges that ask for an answer."""
    if folder == "captures":
        return [*captured("*-anthropic-stream.txt"), *captured("*-anthropic-nostream.txt"),
                *captured("*-anthropic-tools-any-stream.txt")]  # fmt: skip
    return [exchange for exchange in recorded(folder) if exchange.url.split("?")[0].endswith("/v1/messages")]


async def message_of(exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
    """What the adapter makes of a good reply whose body comes in these chunks."""
    return await message_by(_answer, "anthropic", exchange, chunks, broken=broken)


async def _answer(reply: Reply) -> AsyncGenerator[Piece, None]:
    decoder = MessagesDecoder(ORIGIN, Tally(MODEL))
    async for piece in decoded(reply, decoder.begin(reply)):
        yield piece
    for piece in decoder.finish():
        yield piece


def blocks_of(message: AssistantMessage) -> list[dict[str, Any]]:
    """The blocks in which a message goes back to the model that made it."""
    request = ModelRequest(model=message.model, messages=(message,))
    ids = {call.call_id: call.provider_call_id for call in message.calls}
    return [*AssistantBlocks(request, ORIGIN, ToolNames(call.tool for call in message.calls), ids).of(message)]


def kept(plain: Reading) -> list[dict[str, Any]]:
    """The blocks of a reply that can go back: no empty text, no list without citations, no unsigned thinking of a cut
    answer."""
    cut = plain.finish == "max_tokens"
    return [
        {key: value for key, value in block.items() if key != "citations" or value}
        for block in plain.blocks.values()
        if (block["type"] != "text" or block["text"].strip())
        and (block["type"] != "thinking" or block["signature"] or not cut)
    ]


@pytest.mark.parametrize("folder", FOLDERS)
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(folder: str) -> None:
    counts: Counter[str] = Counter()
    for exchange in exchanges(folder):
        if exchange.status >= 400:
            counts["error status"] += 1
            await check_error_reply(exchange, "anthropic")
            continue
        plain = read(exchange.body)
        if exchange.broken or plain.error or not plain.whole:
            counts["error in the reply"] += 1
            with pytest.raises(ProviderError):
                await message_of(exchange, exchange.body, broken=exchange.broken)
            continue
        counts["whole"] += 1
        message = await message_of(exchange, exchange.body)
        compare(message, plain, exchange.name)
    errors = counts["error status"], counts["error in the reply"]
    if folder == "captures":
        assert capture_counts("Anthropic Messages") == (counts["whole"], *errors)
    else:
        assert provider_counts("Anthropic")[:2] == (counts["whole"], sum(errors))


def compare(message: AssistantMessage, plain: Reading, name: str) -> None:
    text = "".join(block["text"] for block in plain.of("text"))
    thought = "".join(block["thinking"] for block in plain.of("thinking"))
    answered = text.strip() or plain.of("tool_use") or plain.hosted or plain.finish == "max_tokens"
    assert message.text == (text if answered else text + thought), name
    assert "".join(part.text for part in message.parts if part.kind == "reasoning") == thought, name
    calls = [(call.provider_call_id, call.tool, call.arguments) for call in message.calls]
    assert calls == [(block["id"], block["name"], block["input"]) for block in plain.of("tool_use")], name
    hosted = [part.opaque.data for part in message.parts if part.kind == "hosted"]
    assert hosted == plain.hosted, name
    usage = message.usage
    counted = (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens, usage.output_tokens)
    assert (*counted, usage.reasoning_tokens) == plain.tokens, name
    expected = FINISH[plain.finish]
    assert message.finish == ("calls" if plain.of("tool_use") and expected == "stop" else expected), name
    if answered:
        assert blocks_of(message) == kept(plain), name
    containers = [part.opaque.data.get("container") for part in message.parts if part.kind == "text" and part.opaque]
    assert (containers[-1] if containers else None) == plain.container, name


def streams(folder: str, largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    return whole_streams(exchanges(folder), lambda body: read(body).whole and not read(body).error, largest)


@pytest.mark.parametrize("folder", FOLDERS)
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(folder: str) -> None:
    for exchange in streams(folder, 60_000):
        await check_chunks(exchange, message_of)


@pytest.mark.parametrize("folder", FOLDERS)
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(folder: str) -> None:
    for exchange in streams(folder, 6_000)[:4]:
        await check_every_byte(exchange, message_of, b'"message_stop"')


@pytest.mark.parametrize("folder", FOLDERS)
async def test_a_stream_that_breaks_before_its_stop_is_a_network_error(folder: str) -> None:
    for exchange in streams(folder, 60_000):
        await check_break(exchange, message_of, b"event: message_stop")
