from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest

from perdure.contracts.errors import BadReplyError, RateLimitedError
from perdure.contracts.generation import EmbeddingQuery, EmbeddingsMade
from perdure.contracts.usage import Cost, Usage
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.openai_embeddings import MOST_TEXTS
from perdure.providers.own_prices import Price
from tests.providers.making import Server, making

MODEL = "openai:text-embedding-3-small"


def reply(*vectors: Any, **fields: Any) -> dict[str, Any]:
    data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return {"data": data, "usage": {"prompt_tokens": 4}, **fields}


async def embedded(server: Server, *texts: str, **fields: Any) -> EmbeddingsMade:
    async with making(server) as makers:
        return await makers.embedder(MODEL).embed(EmbeddingQuery(model=MODEL, texts=texts, **fields))


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    answer = reply([1, 0.5], [2.0, 0.25])
    answer["data"].reverse()
    server = Server(answer)
    made = await embedded(server, "a", "b", dimensions=2)
    assert made.vectors == ((1.0, 0.5), (2.0, 0.25))
    assert made.usage == Usage(requests=1, input_tokens=4)
    assert json.loads(server.requests[0].content) == {
        "model": "text-embedding-3-small",
        "input": ["a", "b"],
        "encoding_format": "float",
        "dimensions": 2,
    }
    assert server.requests[0].url.path == "/v1/embeddings"


async def test_packed_numbers_are_read_too() -> None:
    packed = base64.b64encode(struct.pack("<2f", 0.5, -2)).decode()
    assert (await embedded(Server(reply(packed)), "a")).vectors == ((0.5, -2.0),)


@pytest.mark.parametrize(
    "data", [[], [{"embedding": []}], [{"embedding": "é"}], [{"embedding": "QUJD"}], [{"embedding": ["x"]}], None]
)
async def test_a_vector_that_is_missing_is_an_error(data: Any) -> None:
    with pytest.raises(BadReplyError, match="1 embeddings were asked for and 0 came"):
        await embedded(Server({"data": data}), "a")


async def test_many_texts_become_several_requests_whose_usage_adds_up() -> None:
    server = Server(reply(*[[1.0]] * MOST_TEXTS), reply([2.0]))
    made = await embedded(server, *["a"] * (MOST_TEXTS + 1))
    assert len(made.vectors) == MOST_TEXTS + 1
    assert made.vectors[-1] == (2.0,)
    assert made.usage == Usage(requests=2, input_tokens=8)


async def test_a_price_is_the_settings_or_the_lists_or_said_to_be_unknown() -> None:
    assert (await embedded(Server(reply([1.0])), "a")).cost == Cost(nano_dollars=4 * 20)
    assert (await embedded(Server({"data": [{"embedding": [1.0]}]}), "a")).cost == Cost(unpriced=1)
    settings = ProviderSettings(prices={MODEL: Price(input="1", output=0)})
    async with making(Server(reply([1.0])), settings=settings) as makers:
        made = await makers.embedder(MODEL).embed(EmbeddingQuery(model=MODEL, texts=("a",)))
    assert made.cost == Cost(nano_dollars=4000)


async def test_errors_are_typed_as_everywhere() -> None:
    error = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    with pytest.raises(RateLimitedError, match="slow down"):
        await embedded(Server(error, status=429), "a")
    with pytest.raises(RateLimitedError):
        await embedded(Server(error), "a")
