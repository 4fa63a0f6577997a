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
from perdure.providers.http import Reply
from perdure.providers.openai_chat import decoded
from tests.providers.serving import assembled, pieces_of, serving, streamed
from tests.wire.plain_chat import read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded

pytestmark = needs_recordings

PROVIDERS = (
    "openai-chat", "deepseek", "groq", "mistral", "openrouter",
    "cerebras", "crusoe", "huggingface", "ollama", "zai",
)  # fmt: skip

NAMES = {"openai-chat": "openai", "crusoe": "vllm"}
"""Our provider's name where the folder's is another."""

FINISH = {"stop": "stop", "length": "length", "tool_calls": "calls", "content_filter": "refused"}


def exchanges(provider: str) -> list[Exchange]:
    if provider == "captures":
        return [*captured("llama-*-chat*.txt"), *captured("aimock-*-chat*.txt"), *captured("llmock-*-chat*.txt"),
                *captured("fakellm-chat*.txt"), *captured("dwmkerr-chat*.txt")]  # fmt: skip
    return [exchange for exchange in recorded(provider) if "chat/completions" in exchange.url]


def dialect_of(provider: str) -> str:
    return "llamacpp" if provider == "captures" else NAMES.get(provider, provider)


async def message_of(exchange: Exchange, dialect: str, *chunks: bytes, broken: bool = False) -> AssistantMessage:
    """What the adapter makes of a good reply whose body comes in these chunks."""
    fail = httpx.RemoteProtocolError("peer closed connection") if broken else None
    response = httpx.Response(200, headers=exchange.headers, content=streamed(chunks, fail))
    flags = DIALECTS.get(dialect, DIALECTS["compatible"])
    pieces = whole(dialect, decoded(Reply(dialect, response), flags, "origin"))
    return assembled([piece async for piece in pieces], f"{dialect}:x")


@pytest.mark.parametrize("provider", [*PROVIDERS, "captures"])
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(provider: str) -> None:
    counts: Counter[str] = Counter()
    dialect = dialect_of(provider)
    for exchange in exchanges(provider):
        if exchange.status >= 400:
            counts["error status"] += 1
            client = serving(
                lambda _, exchange=exchange: httpx.Response(  # type: ignore[misc] # a default argument binds it
                    exchange.status, headers=exchange.headers, content=exchange.body
                ),
                name=dialect,
            )
            with pytest.raises(ProviderError) as caught:
                await pieces_of(client)
            assert caught.value.status == exchange.status, exchange.name
            continue
        plain = read(exchange.body)
        if exchange.broken or plain.error or not plain.finish:
            counts["error in the reply"] += 1
            with pytest.raises(ProviderError):
                await message_of(exchange, dialect, exchange.body, broken=exchange.broken)
            continue
        counts["whole"] += 1
        message = await message_of(exchange, dialect, exchange.body)
        answered = plain.text or plain.calls or plain.finish == "length"
        assert message.text == (plain.text if answered else plain.reasoning), exchange.name
        assert "".join(part.text for part in message.parts if part.kind == "reasoning") == plain.reasoning
        calls = [[call.provider_call_id, call.tool, call.arguments_text] for call in message.calls]
        assert calls == list(plain.calls.values()), exchange.name
        assert all(call.arguments is not None for call in message.calls) or plain.finish == "length"
        assert (message.usage.input_tokens, message.usage.output_tokens) == plain.usage, exchange.name
        expected = "calls" if plain.calls and plain.finish == "stop" else FINISH[plain.finish]
        assert message.finish == expected, exchange.name
    assert counts["whole"], f"no recording of {provider} holds a whole reply"


def streams(provider: str, largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    found = [
        exchange
        for exchange in exchanges(provider)
        if exchange.status == 200 and b"data:" in exchange.body[:2000] and len(exchange.body) <= largest
        and not exchange.broken and (plain := read(exchange.body)).finish and not plain.error
    ]  # fmt: skip
    return sorted(found, key=lambda exchange: len(exchange.body))


@pytest.mark.parametrize("provider", ["openai-chat", "deepseek", "groq", "openrouter", "zai", "captures"])
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(provider: str) -> None:
    chance = random.Random(7)
    for exchange in streams(provider, 60_000)[:6]:
        body, dialect = exchange.body, dialect_of(provider)
        expected = await message_of(exchange, dialect, body)
        for _ in range(3):
            cuts = sorted({0, len(body), *(chance.randrange(len(body)) for _ in range(chance.randrange(1, 60)))})
            chunks = [body[start:end] for start, end in pairwise(cuts)]
            assert await message_of(exchange, dialect, *chunks) == expected, exchange.name
        assert await message_of(exchange, dialect, *(bytes([byte]) for byte in body)) == expected, exchange.name
        crlf = body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        assert await message_of(exchange, dialect, crlf) == expected, exchange.name


@pytest.mark.parametrize("provider", ["openai-chat", "captures"])
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(provider: str) -> None:
    small = streams(provider, 4_000)[:2]
    assert small
    for exchange in small:
        body, dialect = exchange.body, dialect_of(provider)
        expected = await message_of(exchange, dialect, body)
        finish = body.index(b'"finish_reason":"')
        for place in range(len(body)):
            assert await message_of(exchange, dialect, body[:place], body[place:]) == expected
            try:
                early = await message_of(exchange, dialect, body[:place])
            except BadReplyError:
                continue
            assert place > finish, f"{exchange.name} ended at byte {place} was taken for whole"
            assert (early.parts, early.finish) == (expected.parts, expected.finish)


@pytest.mark.parametrize("provider", ["openai-chat", "deepseek", "groq", "openrouter", "zai", "captures"])
async def test_a_stream_that_breaks_before_its_finish_is_a_network_error(provider: str) -> None:
    for exchange in streams(provider, 60_000)[:6]:
        early = exchange.body[: exchange.body.index(b'"finish_reason":"')]
        early = early[: early.rindex(b"data:")]
        with pytest.raises(ProviderNetworkError):
            await message_of(exchange, dialect_of(provider), early, broken=True)
