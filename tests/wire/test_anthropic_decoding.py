from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import httpx
import pytest

from perdure.contracts.errors import BadReplyError, ProviderError, ProviderNetworkError
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.anthropic import decoded
from perdure.providers.anthropic_decoding import MessagesDecoder
from perdure.providers.anthropic_parts import AssistantBlocks
from perdure.providers.anthropic_usage import Tally
from perdure.providers.chat_encoding import ToolNames
from perdure.providers.completion import whole
from perdure.providers.http import Reply
from tests.providers.anthropic_serving import asking, pieces_of, serving
from tests.providers.serving import assembled, streamed
from tests.wire.plain_anthropic import Reading, read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded

pytestmark = needs_recordings

MODEL = "anthropic:claude-sonnet-4-5"
ORIGIN = "anthropic:api.anthropic.com"
FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "tool_use": "calls"}


def exchanges(folder: str) -> list[Exchange]:
    """The exchanges that ask for an answer."""
    if folder == "captures":
        return [*captured("*-anthropic-stream.txt"), *captured("*-anthropic-nostream.txt"),
                *captured("*-anthropic-tools-any-stream.txt")]  # fmt: skip
    return [exchange for exchange in recorded(folder) if exchange.url.split("?")[0].endswith("/v1/messages")]


async def message_of(exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
    """What the adapter makes of a good reply whose body comes in these chunks."""
    fail = httpx.RemoteProtocolError("peer closed connection") if broken else None
    response = httpx.Response(200, headers=exchange.headers, content=streamed(chunks, fail))
    decoder = MessagesDecoder(ORIGIN, Tally(MODEL))
    found = [piece async for piece in whole("anthropic", _answer(decoder, Reply("anthropic", response)))]
    return assembled(found, MODEL)


async def _answer(decoder: MessagesDecoder, reply: Reply) -> Any:
    async for piece in decoded(reply, decoder):
        yield piece
    for piece in decoder.finish():
        yield piece


def blocks_of(message: AssistantMessage) -> list[dict[str, Any]]:
    """The blocks in which a message goes back to the model that made it."""
    request = ModelRequest(model=MODEL, messages=(message,))
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


@pytest.mark.parametrize(("folder", "least"), [("anthropic", 155), ("captures", 24)])
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(folder: str, least: int) -> None:
    counts: Counter[str] = Counter()
    for exchange in exchanges(folder):
        if exchange.status >= 400:
            counts["error status"] += 1
            client = serving(
                lambda _, exchange=exchange: httpx.Response(  # type: ignore[misc] # a default argument binds it
                    exchange.status, headers=exchange.headers, content=exchange.body
                )
            )
            with pytest.raises(ProviderError) as caught:
                await pieces_of(client, asking())
            assert caught.value.status == exchange.status, exchange.name
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
    assert counts["whole"] >= least, counts


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
    found = [
        exchange
        for exchange in exchanges(folder)
        if exchange.status == 200 and b"data:" in exchange.body[:2000] and len(exchange.body) <= largest
        and not exchange.broken and (plain := read(exchange.body)).whole and not plain.error
    ]  # fmt: skip
    return sorted(found, key=lambda exchange: len(exchange.body))


@pytest.mark.parametrize("folder", ["anthropic", "captures"])
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(folder: str) -> None:
    chance = random.Random(7)
    for exchange in streams(folder, 60_000):
        body = exchange.body
        expected = await message_of(exchange, body)
        for _ in range(3):
            cuts = sorted({0, len(body), *(chance.randrange(len(body)) for _ in range(chance.randrange(1, 60)))})
            chunks = [body[start:end] for start, end in pairwise(cuts)]
            assert await message_of(exchange, *chunks) == expected, exchange.name
        assert await message_of(exchange, *(bytes([byte]) for byte in body)) == expected, exchange.name
        crlf = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        assert await message_of(exchange, crlf) == expected, exchange.name


@pytest.mark.parametrize("folder", ["anthropic", "captures"])
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(folder: str) -> None:
    small = streams(folder, 6_000)[:4]
    assert small
    for exchange in small:
        body = exchange.body
        expected = await message_of(exchange, body)
        stop = body.index(b'"message_stop"')
        for place in range(len(body)):
            assert await message_of(exchange, body[:place], body[place:]) == expected
            try:
                early = await message_of(exchange, body[:place])
            except BadReplyError:
                continue
            assert place > stop, f"{exchange.name} ended at byte {place} was taken for whole"
            assert early == expected


@pytest.mark.parametrize("folder", ["anthropic", "captures"])
async def test_a_stream_that_breaks_before_its_stop_is_a_network_error(folder: str) -> None:
    for exchange in streams(folder, 60_000):
        early = exchange.body[: exchange.body.rindex(b"event: message_stop")]
        with pytest.raises(ProviderNetworkError):
            await message_of(exchange, early, broken=True)
