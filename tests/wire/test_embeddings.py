from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from perdure.contracts.errors import BadRequestError, ProviderError
from perdure.contracts.generation import EmbeddingQuery, EmbeddingsMade
from perdure.providers.makers import Makers
from tests.providers.serving import service
from tests.wire.recordings import Exchange, needs_recordings, recorded

pytestmark = needs_recordings


def exchanges(folder: str) -> list[Exchange]:
    return [exchange for exchange in recorded(folder) if "mbed" in exchange.url.rpartition("/")[2]]


async def made(provider: str, exchange: Exchange, query: EmbeddingQuery) -> tuple[EmbeddingsMade, dict[str, Any]]:
    bodies: list[dict[str, Any]] = []

    def handle(request: httpx.Request) -> httpx.Response:
        assert str(request.url) == exchange.url
        bodies.append(json.loads(request.content))
        return httpx.Response(exchange.status, headers=exchange.headers, content=exchange.body)

    makers = Makers(service(provider, transport=httpx.MockTransport(handle)))
    try:
        return await makers.embedder(query.model).embed(query), bodies[0]
    finally:
        await makers.close()


async def test_recorded_embeddings_of_openai_are_read_as_the_numbers_that_they_are() -> None:
    (exchange,) = exchanges("openai-embeddings")
    query = EmbeddingQuery(model=f"openai:{exchange.request['model']}", texts=tuple(exchange.request["input"]))
    result, body = await made("openai", exchange, query)
    # The recorded client asked for packed numbers, which many servers cannot give.
    assert body == {**exchange.request, "encoding_format": "float"}
    assert [len(vector) for vector in result.vectors] == [1536, 1536]
    assert all(abs(sum(number * number for number in vector) - 1) < 1e-3 for vector in result.vectors)
    assert result.usage.input_tokens == json.loads(exchange.body)["usage"]["prompt_tokens"]
    assert result.cost.nano_dollars > 0


def purpose(request: dict[str, Any]) -> tuple[str, str | None]:
    """The text and the purpose that our query must have had."""
    text = request["content"]["parts"][0]["text"]
    if text.startswith("task: search result | query: "):
        return text.removeprefix("task: search result | query: "), "query"
    return text, "query" if request.get("taskType") == "RETRIEVAL_QUERY" else None


@pytest.mark.parametrize("number", range(9))
async def test_recorded_embeddings_of_gemini_are_read_and_asked_for_in_the_same_words(number: int) -> None:
    exchange = exchanges("gemini")[number]
    first = exchange.request["requests"][0]
    text, said = purpose(first)
    query = EmbeddingQuery.model_validate(
        {
            "model": f"gemini:{first['model'].removeprefix('models/')}",
            "texts": (text,),
            "purpose": said,
            "dimensions": exchange.request.get("outputDimensionality") or first.get("outputDimensionality"),
        }
    )
    if exchange.status >= 400:
        with pytest.raises(ProviderError) as caught:
            await made("gemini", exchange, query)
        assert caught.value.status == exchange.status
        assert isinstance(caught.value, BadRequestError)
        return
    result, body = await made("gemini", exchange, query)
    assert body == exchange.request
    assert len(result.vectors) == 1
    assert len(result.vectors[0]) == len(json.loads(exchange.body)["embeddings"][0]["values"]) > 100
    counted = "usageMetadata" in json.loads(exchange.body)
    assert (result.usage.input_tokens > 0) == counted
    assert counted or result.cost.unpriced == 1
