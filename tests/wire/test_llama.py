"""llama.cpp, which nobody here wrote, and a small real model in all three protocols that it speaks."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from perdure.activities.objects import make_object
from perdure.contracts.errors import BadRequestError, ContextTooLongError
from perdure.contracts.generation import EmbeddingQuery, ObjectQuery
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.registry import ProviderRegistry
from tests.providers.serving import assembled, user
from tests.wire.programs import llama, needs_llama

pytestmark = [pytest.mark.slow, needs_llama]

PROTOCOLS = {"llamacpp": "openai-chat", "own-responses": "openai-responses", "own-anthropic": "anthropic"}
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with llama() as address:
        yield address


@pytest.fixture
async def registry(server: str) -> AsyncIterator[ProviderRegistry]:
    endpoints = {
        name: Endpoint.model_validate({"base_url": f"{server}/v1", "protocol": protocol, "dialect": "llamacpp"})
        for name, protocol in PROTOCOLS.items()
    }
    opened = ProviderRegistry(ProviderSettings(endpoints=endpoints), {})
    yield opened
    await opened.close()


async def answer(registry: ProviderRegistry, provider: str, said: str, **fields: Any) -> AssistantMessage:
    model = f"{provider}:smollm2"
    request = ModelRequest(model=model, messages=(user(said),), **{"max_output_tokens": 24, **fields})
    async with aclosing(registry.open(model).stream(request)) as pieces:
        return assembled([piece async for piece in pieces], model)


@pytest.mark.parametrize("provider", PROTOCOLS)
async def test_a_real_model_answers_and_its_tokens_are_counted(registry: ProviderRegistry, provider: str) -> None:
    message = await answer(registry, provider, "Say hello.")
    assert message.text.strip()
    assert 0 < message.usage.output_tokens <= 24
    assert message.usage.input_tokens > 5
    assert message.finish in ("stop", "length")


@pytest.mark.parametrize("provider", PROTOCOLS)
async def test_an_answer_that_its_limit_cut_says_so(registry: ProviderRegistry, provider: str) -> None:
    message = await answer(registry, provider, "Write a long story about the sea.", max_output_tokens=4)
    assert (message.finish, message.usage.output_tokens) == ("length", 4)


@pytest.mark.parametrize("provider", PROTOCOLS)
async def test_more_than_the_model_can_read_is_told_as_that(registry: ProviderRegistry, provider: str) -> None:
    with pytest.raises(ContextTooLongError):
        await answer(registry, provider, "word " * 5_000)


async def test_a_schema_holds_a_model_that_could_not_hold_to_it_by_itself(registry: ProviderRegistry) -> None:
    message = await answer(registry, "llamacpp", "Who are you?", output_schema=PERSON, max_output_tokens=48)
    assert set(json.loads(message.text)) == {"name", "age"}
    query = ObjectQuery(model="llamacpp:smollm2", prompt="A person?", output_schema=PERSON, max_output_tokens=48)
    made = await make_object(registry, query)
    assert (made.way, made.repaired) == ("schema", False)


async def test_embeddings_come_from_the_same_server(registry: ProviderRegistry) -> None:
    model = "llamacpp:smollm2"
    made = await registry.makers(model).embedder(model).embed(EmbeddingQuery(model=model, texts=("sea", "ocean")))
    assert [len(vector) for vector in made.vectors] == [576, 576]
    assert made.usage.input_tokens > 0
    assert made.cost.unpriced == 0


async def test_what_the_server_refuses_is_refused_for_good(registry: ProviderRegistry) -> None:
    model = "llamacpp:smollm2"
    with pytest.raises(BadRequestError):
        await registry.makers(model).embedder(model).embed(EmbeddingQuery(model=model, texts=("",)))
