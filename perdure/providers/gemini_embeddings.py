"""Embeddings by Gemini's protocol.

Models of the second generation are told the purpose in the text itself, in the words that Google documents; older ones
in a field, which the newer ones ignore.
"""

from __future__ import annotations

from perdure.contracts.generation import EmbeddingQuery, EmbeddingsMade
from perdure.contracts.usage import Usage
from perdure.providers.gemini_encoding import path, resource
from perdure.providers.lenient import Json, a_count, a_list, an_object
from perdure.providers.workshop import Workshop

MOST_TEXTS = 100
"""Texts of one request at most; more become several requests."""

_TASKS = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}
_PREFIXES = {"query": "task: search result | query: ", "document": "title: none | text: "}


class GeminiEmbedder:
    """Makes embeddings."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def embed(self, query: EmbeddingQuery) -> EmbeddingsMade:
        """One vector for each text. Raises ProviderError."""
        vectors: list[tuple[float, ...]] = []
        requests, tokens, told = 0, 0, False
        for start in range(0, len(query.texts), MOST_TEXTS):
            texts = query.texts[start : start + MOST_TEXTS]
            body: Json = {"requests": [_request(text, query) for text in texts]}
            reply = await self._workshop.ask(path(query.model, "batchEmbedContents"), body)
            vectors += self._vectors(reply, len(texts))
            requests += 1
            counted = an_object(reply.get("usageMetadata"))
            told = told or bool(counted)
            tokens += a_count(counted.get("promptTokenCount"))
        usage = Usage(requests=requests, input_tokens=tokens)
        cost = self._workshop.cost(query.model, usage if told or not requests else None)
        return EmbeddingsMade(vectors=tuple(vectors), usage=usage, cost=cost)

    def _vectors(self, reply: Json, expected: int) -> list[tuple[float, ...]]:
        vectors = [
            tuple(float(number) for number in a_list(an_object(entry).get("values")) if isinstance(number, int | float))
            for entry in a_list(reply.get("embeddings"))
        ]
        if len(vectors) != expected or not all(vectors):
            raise self._workshop.bad(f"{expected} embeddings were asked for and {sum(map(bool, vectors))} came")
        return vectors


def _request(text: str, query: EmbeddingQuery) -> Json:
    model = resource(query.model)
    in_text = model.startswith("models/gemini-embedding-2") and not model.endswith("-preview")
    said = _PREFIXES[query.purpose] + text if query.purpose and in_text else text
    request: Json = {"model": model, "content": {"parts": [{"text": said}]}}
    if query.purpose and not in_text:
        request["taskType"] = _TASKS[query.purpose]
    if query.dimensions is not None:
        request["outputDimensionality"] = query.dimensions
    return request
