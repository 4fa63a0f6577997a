"""What makers of things other than conversations are to the rest of Perdure, one method each.

All raise only `ProviderError` and its kinds, besides InvalidInputError for what their protocol has no place for.
"""

from __future__ import annotations

from typing import Protocol

from perdure.contracts.generation import (
    EmbeddingQuery,
    EmbeddingsMade,
    ImageQuery,
    ImagesMade,
    SpeechMade,
    SpeechQuery,
    TranscriptionMade,
    TranscriptionQuery,
    VideoMade,
    VideoQuery,
)


class Embedder(Protocol):
    async def embed(self, query: EmbeddingQuery) -> EmbeddingsMade:
        """One vector for each text."""
        ...


class ImageMaker(Protocol):
    async def make_images(self, query: ImageQuery) -> ImagesMade:
        """Images by a description, or by other images."""
        ...


class Speaker(Protocol):
    async def speak(self, query: SpeechQuery) -> SpeechMade:
        """Text, spoken."""
        ...


class Transcriber(Protocol):
    async def transcribe(self, query: TranscriptionQuery) -> TranscriptionMade:
        """What is said in a recording."""
        ...


class VideoMaker(Protocol):
    async def make_video(self, query: VideoQuery) -> VideoMade:
        """A video by a description. Nobody makes one yet: see `perdure.providers.makers`."""
        ...
