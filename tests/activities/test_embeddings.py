from __future__ import annotations

from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.embeddings import EmbeddingActivities
from perdure.contracts.generation import EmbeddingQuery, EmbeddingsMade
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.registry import ProviderRegistry


class Maker:
    """Makes vectors of ``length`` numbers."""

    def __init__(self, length: int) -> None:
        self._length = length

    def makers(self, model: str) -> Maker:
        return self

    def embedder(self, model: str) -> Maker:
        return self

    async def embed(self, query: EmbeddingQuery) -> EmbeddingsMade:
        return EmbeddingsMade(vectors=((0.123456789,) * self._length,) * len(query.texts))


async def embedded(providers: Any, *texts: str, model: str = "corp:e") -> EmbeddingsMade:
    query = EmbeddingQuery(model=model, texts=texts)
    result: EmbeddingsMade = await ActivityEnvironment().run(EmbeddingActivities(providers).embed, query)
    return result


async def test_each_text_gets_its_vector() -> None:
    assert len((await embedded(Maker(3), "a", "b")).vectors) == 2


async def test_nothing_is_asked_for_no_text() -> None:
    assert (await embedded(None)).vectors == ()


async def test_more_than_a_result_can_hold_is_told_with_how_many_fit() -> None:
    with pytest.raises(ApplicationError, match=r"The vectors of 100 texts .* ask for \d\d, or") as caught:
        await embedded(Maker(3000), *["a"] * 100)
    assert caught.value.non_retryable


@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-4-5", "demo:demo", "scripted:x.json"])
async def test_a_model_that_makes_none_fails_for_good_and_says_so(model: str) -> None:
    registry = ProviderRegistry(ProviderSettings(), {"ANTHROPIC_API_KEY": "k"})
    with pytest.raises(ApplicationError, match=f"The model {model} lacks ") as caught:
        await embedded(registry, "a", model=model)
    assert (caught.value.type, caught.value.non_retryable) == ("unsupported", True)
    await registry.close()
