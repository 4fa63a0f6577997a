"""Shapes as another's mock server writes them: one fixture in all four protocols, and media over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from perdure.contracts.errors import OverloadedError, ProviderNetworkError, RateLimitedError
from perdure.contracts.generation import EmbeddingQuery, ImageQuery, SpeechQuery, TranscriptionQuery
from perdure.contracts.messages import AssistantMessage, AudioPart, ImagePart
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.catalogue import CATALOGUE, ProviderSettings
from perdure.providers.registry import ProviderRegistry
from tests.providers.serving import assembled, user
from tests.wire.programs import aimock, needs_aimock

pytestmark = [pytest.mark.slow, needs_aimock]

WEATHER = [{"name": "get_weather", "arguments": {"city": city}} for city in ("Paris", "London")]
FIXTURES: list[dict[str, Any]] = [
    {
        "match": {"userMessage": "think then call"},
        "response": {"reasoning": "They want the weather.", "content": "Let me see.", "toolCalls": WEATHER},
    },
    {"match": {"userMessage": "hello"}, "response": {"content": "Grüße, 世界 🌍!"}},
    {
        "match": {"userMessage": "limit me"},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
    {"match": {"userMessage": "overload me"}, "response": {"error": {"message": "too much"}, "status": 529}},
    {"match": {"userMessage": "drop me"}, "response": {"content": "x" * 400}, "disconnectAfterMs": 1, "latency": 50},
    {"match": {"userMessage": "the sea", "endpoint": "image"}, "response": {"image": {"b64Json": "cGl4ZWw="}}},
    {"match": {"userMessage": "say it", "endpoint": "speech"}, "response": {"audio": "c291bmQ="}},
    {"match": {"endpoint": "transcription"}, "response": {"transcription": {"text": "Hello there"}}},
    {"match": {"inputText": "embed me"}, "response": {"embedding": [0.5, 0.25]}},
]
PATHS = {"openai": "/v1", "openai-responses": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}
MODELS = {
    "openai": "openai:gpt-4o",
    "openai-responses": "openai-responses:gpt-4o",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-3-pro",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with aimock(FIXTURES, tmp_path_factory.mktemp("aimock")) as address:
        yield address


@pytest.fixture
async def registry(server: str) -> AsyncIterator[ProviderRegistry]:
    endpoints = {
        name: CATALOGUE[name].model_copy(update={"base_url": server + path, "key_variable": ""})
        for name, path in PATHS.items()
    }
    opened = ProviderRegistry(ProviderSettings(endpoints=endpoints), {})
    yield opened
    await opened.close()


async def answer(registry: ProviderRegistry, provider: str, said: str, *tools: str) -> AssistantMessage:
    model = MODELS[provider]
    offered = tuple(ToolSpec(name=tool) for tool in tools)
    request = ModelRequest(model=model, messages=(user(said),), tools=offered)
    async with aclosing(registry.open(model).stream(request)) as pieces:
        return assembled([piece async for piece in pieces], model)


@pytest.mark.parametrize("provider", PATHS)
async def test_text_in_any_script_comes_whole(registry: ProviderRegistry, provider: str) -> None:
    assert (await answer(registry, provider, "hello")).text == "Grüße, 世界 🌍!"


@pytest.mark.parametrize("provider", PATHS)
async def test_reasoning_text_and_two_calls_come_in_one_answer(registry: ProviderRegistry, provider: str) -> None:
    message = await answer(registry, provider, "think then call", "get_weather")
    assert message.text == "Let me see."
    assert "".join(part.text for part in message.parts if part.kind == "reasoning") == "They want the weather."
    assert [(call.tool, call.arguments) for call in message.calls] == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "London"}),
    ]
    assert message.finish == "calls"


@pytest.mark.parametrize("provider", PATHS)
async def test_errors_in_each_vendors_words_are_typed(registry: ProviderRegistry, provider: str) -> None:
    with pytest.raises(RateLimitedError, match="slow down"):
        await answer(registry, provider, "limit me")
    with pytest.raises(OverloadedError, match="too much"):
        await answer(registry, provider, "overload me")
    with pytest.raises(ProviderNetworkError):
        await answer(registry, provider, "drop me")


async def test_media_are_made_over_real_sockets(registry: ProviderRegistry) -> None:
    makers = registry.makers("openai:x")
    made = await makers.image_maker("openai:gpt-image-1").make_images(
        ImageQuery(model="openai:gpt-image-1", prompt="the sea")
    )
    assert made.images == (ImagePart(data=b"pixel"),)
    spoken = await makers.speaker("openai:tts-1").speak(SpeechQuery(model="openai:tts-1", text="say it"))
    assert spoken.audio.data == b"sound"
    query = TranscriptionQuery(model="openai:whisper-1", audio=AudioPart(data=b"RIFF sound"))
    heard = await makers.transcriber(query.model).transcribe(query)
    assert heard.text == "Hello there"


@pytest.mark.parametrize("model", ["openai:text-embedding-3-small", "openai-responses:text-embedding-3-small"])
async def test_embeddings_are_made_over_real_sockets(registry: ProviderRegistry, model: str) -> None:
    made = await registry.makers(model).embedder(model).embed(EmbeddingQuery(model=model, texts=("embed me",)))
    assert made.vectors == ((0.5, 0.25),)
