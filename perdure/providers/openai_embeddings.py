"""Embeddings by OpenAI's protocol, which nearly every server that makes them speaks."""

from __future__ import annotations

import struct

from pydantic import JsonValue

from perdure.contracts.generation import EmbeddingQuery, EmbeddingsMade
from perdure.contracts.usage import Usage
from perdure.providers.lenient import Json, a_count, a_list, an_object, some_bytes
from perdure.providers.workshop import Workshop

MOST_TEXTS = 2_048
"""Texts of one request at most; more become several requests."""

Vector = tuple[float, ...]


class OpenAIEmbedder:
    """Makes embeddings. The protocol has no word for a purpose: vectors of queries and documents are the same."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def embed(self, query: EmbeddingQuery) -> EmbeddingsMade:
        """One vector for each text. Raises ProviderError."""
        vectors: list[Vector] = []
        used: Usage | None = None
        for start in range(0, len(query.texts), MOST_TEXTS):
            texts = query.texts[start : start + MOST_TEXTS]
            reply = await self._workshop.ask("/embeddings", _body(query, texts))
            vectors += self._vectors(reply, len(texts))
            used = _sum(used, usage_of(reply))
        usage = used or Usage()
        return EmbeddingsMade(vectors=tuple(vectors), usage=usage, cost=self._workshop.cost(query.model, used))

    def _vectors(self, reply: Json, expected: int) -> list[Vector]:
        entries = [an_object(entry) for entry in a_list(reply.get("data"))]
        ordered = sorted(entries, key=lambda entry: a_count(entry.get("index")))
        vectors = [_vector(entry.get("embedding")) for entry in ordered]
        if len(vectors) != expected or not all(vectors):
            raise self._workshop.bad(f"{expected} embeddings were asked for and {sum(map(bool, vectors))} came")
        return vectors


def usage_of(reply: Json) -> Usage | None:
    """What a reply says was used, if it says so."""
    usage = an_object(reply.get("usage"))
    return Usage(requests=1, input_tokens=a_count(usage.get("prompt_tokens"))) if usage else None


def _sum(before: Usage | None, more: Usage | None) -> Usage | None:
    return before + more if before and more else more or before


def _body(query: EmbeddingQuery, texts: tuple[str, ...]) -> Json:
    body: Json = {"model": query.model.partition(":")[2], "input": [*texts], "encoding_format": "float"}
    return body if query.dimensions is None else {**body, "dimensions": query.dimensions}


def _vector(value: JsonValue) -> Vector:
    """The numbers, which some servers send packed whatever they are asked for; () for anything else."""
    if isinstance(value, list):
        numbers = tuple(float(entry) for entry in value if isinstance(entry, int | float))
        return numbers if len(numbers) == len(value) else ()
    packed = some_bytes(value)
    return struct.unpack(f"<{len(packed) // 4}f", packed) if len(packed) % 4 == 0 else ()
