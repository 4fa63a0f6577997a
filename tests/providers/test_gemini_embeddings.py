from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.contracts.errors import BadReplyError
from perdure.contracts.generation import EmbeddingQuery, EmbeddingsMade
from perdure.contracts.usage import Cost, Usage
from perdure.providers.gemini_embeddings import MOST_TEXTS
from tests.providers.making import Server, making


async def embedded(server: Server, *texts: str, model: str = "gemini-embedding-001", **fields: Any) -> EmbeddingsMade:
    query = EmbeddingQuery(model=f"gemini:{model}", texts=texts, **fields)
    async with making(server, provider="gemini") as makers:
        return await makers.embedder(query.model).embed(query)


def reply(count: int = 1, **fields: Any) -> dict[str, Any]:
    return {"embeddings": [{"values": [0.5, 1]}] * count, **fields}


@pytest.mark.parametrize(
    ("model", "purpose", "sent"),
    [
        ("gemini-embedding-001", "query", {"taskType": "RETRIEVAL_QUERY"}),
        ("gemini-embedding-001", "document", {"taskType": "RETRIEVAL_DOCUMENT"}),
        ("gemini-embedding-001", None, {}),
        ("gemini-embedding-2", "query", {"content": {"parts": [{"text": "task: search result | query: a"}]}}),
        ("models/gemini-embedding-2", "query", {"content": {"parts": [{"text": "task: search result | query: a"}]}}),
        ("gemini-embedding-2", "document", {"content": {"parts": [{"text": "title: none | text: a"}]}}),
        ("gemini-embedding-2", None, {}),
    ],
)
async def test_the_purpose_is_told_as_the_model_takes_it(model: str, purpose: Any, sent: dict[str, Any]) -> None:
    server = Server(reply())
    await embedded(server, "a", model=model, purpose=purpose, dimensions=2)
    model = model.removeprefix("models/")
    plain = {"model": f"models/{model}", "content": {"parts": [{"text": "a"}]}, "outputDimensionality": 2}
    assert json.loads(server.requests[0].content) == {"requests": [{**plain, **sent}]}
    assert server.requests[0].url.path == f"/v1beta/models/{model}:batchEmbedContents"


async def test_many_texts_become_several_requests_whose_usage_adds_up() -> None:
    server = Server(
        reply(MOST_TEXTS, usageMetadata={"promptTokenCount": 100}), reply(usageMetadata={"promptTokenCount": 1})
    )
    made = await embedded(server, *["a"] * (MOST_TEXTS + 1))
    assert made.vectors == ((0.5, 1.0),) * (MOST_TEXTS + 1)
    assert made.usage == Usage(requests=2, input_tokens=101)
    assert made.cost.unpriced == 0


async def test_usage_that_was_never_said_has_no_price() -> None:
    assert (await embedded(Server(reply()), "a")).cost == Cost(unpriced=1)


@pytest.mark.parametrize("answer", [{}, reply(2), {"embeddings": [{"values": []}]}])
async def test_a_vector_too_few_or_too_many_is_an_error(answer: dict[str, Any]) -> None:
    server = Server(answer or {"other": 1})
    with pytest.raises(BadReplyError, match="1 embeddings were asked for"):
        await embedded(server, "a")
