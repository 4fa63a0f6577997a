"""Who makes what: the maker for a model, or the error that says who could.

Which protocols have a maker of a kind stands here; which models do stands in the table of capabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from perdure.contracts.errors import UnsupportedCapabilityError
from perdure.providers.admission import Admission, having_it
from perdure.providers.capabilities import SAID, Capability
from perdure.providers.catalogue import WireProtocol
from perdure.providers.gemini_embeddings import GeminiEmbedder
from perdure.providers.gemini_images import GeminiImageMaker
from perdure.providers.generation import Embedder, ImageMaker, Speaker, Transcriber, VideoMaker
from perdure.providers.openai_audio import OpenAISpeaker, OpenAITranscriber
from perdure.providers.openai_embeddings import OpenAIEmbedder
from perdure.providers.openai_images import OpenAIImageMaker
from perdure.providers.service import Service
from perdure.providers.workshop import Workshop

_Made = TypeVar("_Made")

_OPENAI: tuple[WireProtocol, ...] = ("openai-chat", "openai-responses")

_EMBEDDERS: Mapping[WireProtocol, Callable[[Workshop], Embedder]] = {
    **dict.fromkeys(_OPENAI, OpenAIEmbedder),
    "gemini": GeminiEmbedder,
}
_IMAGE_MAKERS: Mapping[WireProtocol, Callable[[Workshop], ImageMaker]] = {
    **dict.fromkeys(_OPENAI, OpenAIImageMaker),
    "gemini": GeminiImageMaker,
}
_SPEAKERS: Mapping[WireProtocol, Callable[[Workshop], Speaker]] = dict.fromkeys(_OPENAI, OpenAISpeaker)
_TRANSCRIBERS: Mapping[WireProtocol, Callable[[Workshop], Transcriber]] = dict.fromkeys(_OPENAI, OpenAITranscriber)


class Makers:
    """The makers at one endpoint; `close` ends their connections."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._admission = Admission(service)
        self._http = service.connect()
        self._workshop = Workshop(service.name, self._http, service.settings.prices)

    def embedder(self, model: str) -> Embedder:
        """What makes embeddings by ``model``. Raises UnsupportedCapabilityError."""
        return self._maker(model, "embeddings", _EMBEDDERS)

    def image_maker(self, model: str) -> ImageMaker:
        """What makes images by ``model``. Raises UnsupportedCapabilityError."""
        return self._maker(model, "image_output", _IMAGE_MAKERS)

    def speaker(self, model: str) -> Speaker:
        """What speaks by ``model``. Raises UnsupportedCapabilityError."""
        return self._maker(model, "speech", _SPEAKERS)

    def transcriber(self, model: str) -> Transcriber:
        """What transcribes by ``model``. Raises UnsupportedCapabilityError."""
        return self._maker(model, "transcription", _TRANSCRIBERS)

    def video_maker(self, model: str) -> VideoMaker:
        """What makes videos by ``model``: nothing yet. Raises UnsupportedCapabilityError."""
        raise UnsupportedCapabilityError(model, SAID["video_output"], (), "There is no adapter for it yet.")

    async def close(self) -> None:
        """End the kept connections."""
        await self._http.close()

    def _maker(
        self, model: str, capability: Capability, makers: Mapping[WireProtocol, Callable[[Workshop], _Made]]
    ) -> _Made:
        maker = makers.get(self._service.endpoint.protocol)
        if maker is not None and capability not in self._admission.known(model).lacks:
            return maker(self._workshop)
        having = having_it(capability, self._service, protocols=tuple(makers))
        raise UnsupportedCapabilityError(model, SAID[capability], having)
