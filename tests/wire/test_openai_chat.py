from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator

import pytest

from perdure.contracts.errors import ProviderError
from perdure.contracts.messages import AssistantMessage
from perdure.providers.adapter import decoded
from perdure.providers.chat_decoding import ChatDecoder
from perdure.providers.dialects import DIALECTS
from perdure.providers.http import Reply
from perdure.providers.stream import Piece
from tests.wire.comparing import capture_counts, provider_counts
from tests.wire.plain_chat import read
from tests.wire.recordings import Exchange, captured, needs_recordings, recorded
from tests.wire.streams import (
    MessageOf,
    check_break,
    check_chunks,
    check_error_reply,
    check_every_byte,
    message_by,
    whole_streams,
)

pytestmark = needs_recordings

TITLES = {
    "openai-chat": "OpenAI Chat", "deepseek": "DeepSeek, Chat", "groq": "Groq", "mistral": "Mistral",
    "openrouter": "OpenRouter", "cerebras": "Cerebras", "crusoe": "Crusoe", "huggingface": "Hugging Face",
    "ollama": "Ollama", "zai": "Z.ai",
}  # fmt: skip
"""What the documentation calls each folder."""

STREAMING = ("openai-chat", "deepseek", "groq", "openrouter", "zai", "captures")

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


def messages_of(provider: str) -> MessageOf:
    """What the adapter makes of a good reply of ``provider``."""
    dialect = dialect_of(provider)
    flags = DIALECTS.get(dialect, DIALECTS["compatible"])

    def decoding(reply: Reply) -> AsyncGenerator[Piece, None]:
        return decoded(reply, ChatDecoder(reply, flags, "origin"))

    async def message_of(exchange: Exchange, *chunks: bytes, broken: bool = False) -> AssistantMessage:
        return await message_by(decoding, dialect, exchange, chunks, broken=broken)

    return message_of


@pytest.mark.parametrize("provider", [*TITLES, "captures"])
async def test_every_recorded_reply_is_decoded_whole_or_is_the_error_it_stands_for(provider: str) -> None:
    counts: Counter[str] = Counter()
    message_of = messages_of(provider)
    for exchange in exchanges(provider):
        if exchange.status >= 400:
            counts["error status"] += 1
            await check_error_reply(exchange, dialect_of(provider))
            continue
        plain = read(exchange.body)
        if exchange.broken or plain.error or not plain.finish:
            counts["error in the reply"] += 1
            with pytest.raises(ProviderError):
                await message_of(exchange, exchange.body, broken=exchange.broken)
            continue
        counts["whole"] += 1
        message = await message_of(exchange, exchange.body)
        answered = plain.text or plain.calls or plain.finish == "length"
        assert message.text == (plain.text if answered else plain.reasoning), exchange.name
        assert "".join(part.text for part in message.parts if part.kind == "reasoning") == plain.reasoning
        calls = [[call.provider_call_id, call.tool, call.arguments_text] for call in message.calls]
        assert calls == list(plain.calls.values()), exchange.name
        assert all(call.arguments is not None for call in message.calls) or plain.finish == "length"
        assert (message.usage.input_tokens, message.usage.output_tokens) == plain.usage, exchange.name
        expected = "calls" if plain.calls and plain.finish == "stop" else FINISH[plain.finish]
        assert message.finish == expected, exchange.name
    errors = counts["error status"], counts["error in the reply"]
    if provider == "captures":
        assert capture_counts("OpenAI Chat") == (counts["whole"], *errors)
    else:
        assert provider_counts(TITLES[provider])[:2] == (counts["whole"], sum(errors))


def streams(provider: str, largest: int) -> list[Exchange]:
    """The streamed whole replies of at most ``largest`` bytes, smallest first."""
    return whole_streams(exchanges(provider), lambda body: read(body).finish and not read(body).error, largest)


@pytest.mark.parametrize("provider", STREAMING)
async def test_a_stream_in_random_chunks_or_single_bytes_decodes_equally(provider: str) -> None:
    for exchange in streams(provider, 70_000)[:6]:
        await check_chunks(exchange, messages_of(provider))


@pytest.mark.parametrize("provider", ["openai-chat", "captures"])
async def test_a_small_stream_cut_or_ended_at_every_byte_is_whole_or_a_typed_error(provider: str) -> None:
    for exchange in streams(provider, 4_000)[:2]:
        await check_every_byte(exchange, messages_of(provider), b'"finish_reason":"', late_usage=True)


@pytest.mark.parametrize("provider", STREAMING)
async def test_a_stream_that_breaks_before_its_finish_is_a_network_error(provider: str) -> None:
    for exchange in streams(provider, 70_000)[:6]:
        await check_break(exchange, messages_of(provider), b'"finish_reason":"')
