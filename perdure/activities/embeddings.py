"""The activity ``embed``: vectors of texts."""

from __future__ import annotations

from typing import Protocol

from perdure.activities.heartbeat import Heartbeat
from perdure.activities.inputs import activity_named
from perdure.activities.posture import posture
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.generation import EmbeddingQuery, EmbeddingsMade
from perdure.contracts.names import EMBED
from perdure.providers.generation import Embedder

MOST_BYTES = 1_500 * 1024
"""Bytes of a result's JSON at most: the server takes no payload over 2 MB."""


class Embedders(Protocol):
    def embedder(self, model: str) -> Embedder:
        """What makes embeddings by ``model``. Raises UnsupportedCapabilityError."""
        ...


class EmbedderProviders(Protocol):
    """Where those who make embeddings are found by a model's name."""

    def makers(self, model: str) -> Embedders:
        """Those at the model's provider. Raises UnknownModelError, KeyMissingError, UnsupportedCapabilityError."""
        ...


class EmbeddingActivities:
    """Embeddings, over the worker's providers."""

    def __init__(self, providers: EmbedderProviders) -> None:
        self._providers = providers

    @activity_named(EMBED)
    async def embed(self, query: EmbeddingQuery) -> EmbeddingsMade:
        """Make the vectors of the texts, in their order.

        Fails for good when the model makes none, or when they are more than one result can hold.
        """
        with posture():
            if not query.texts:
                return EmbeddingsMade(vectors=())
            async with Heartbeat():
                made = await self._providers.makers(query.model).embedder(query.model).embed(query)
            size = len(made.model_dump_json())
            if size > MOST_BYTES:
                fitting = max(len(query.texts) * MOST_BYTES // size, 1)
                raise InvalidInputError(
                    f"The vectors of {len(query.texts)} texts are more than one result can hold: ask for {fitting}, or "
                    "for fewer dimensions."
                )
            return made
