"""The activities for images, speech, transcription and videos.

What is too large for a result goes into a file named by its content, below the worker's workspace, and the result says
where: asking again after a lost result writes the same file.
"""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from typing import Protocol, TypeVar

from perdure.activities.heartbeat import Heartbeat
from perdure.activities.inputs import activity_named
from perdure.activities.posture import posture
from perdure.activities.replacing import replace_file
from perdure.activities.threads import in_thread
from perdure.contracts.errors import OperatorError
from perdure.contracts.generation import (
    ImageQuery,
    ImagesMade,
    SpeechMade,
    SpeechQuery,
    TranscriptionMade,
    TranscriptionQuery,
    VideoMade,
    VideoQuery,
)
from perdure.contracts.messages import AudioPart, FilePart, ImagePart
from perdure.contracts.names import GENERATE_IMAGE, GENERATE_SPEECH, GENERATE_VIDEO, TRANSCRIBE
from perdure.providers.generation import ImageMaker, Speaker, Transcriber, VideoMaker

INLINE_BYTES = 1024 * 1024
"""Bytes of media that a result holds at most: the server takes no payload over 2 MB, and base64 makes more of them."""

FOLDER = "media"

_Media = TypeVar("_Media", ImagePart, AudioPart, FilePart)


class MediaMakers(Protocol):
    """Who makes media at one provider. All raise UnsupportedCapabilityError for a model that does not."""

    def image_maker(self, model: str) -> ImageMaker: ...

    def speaker(self, model: str) -> Speaker: ...

    def transcriber(self, model: str) -> Transcriber: ...

    def video_maker(self, model: str) -> VideoMaker: ...


class MediaProviders(Protocol):
    """Where makers are found by a model's name."""

    def makers(self, model: str) -> MediaMakers:
        """Those at the model's provider. Raises UnknownModelError, KeyMissingError, UnsupportedCapabilityError."""
        ...


class MediaActivities:
    """Media, over the worker's providers; ``workspace`` is where large ones are kept."""

    def __init__(self, providers: MediaProviders, workspace: Path) -> None:
        self._providers = providers
        self._folder = workspace / FOLDER

    @activity_named(GENERATE_IMAGE)
    async def generate_image(self, query: ImageQuery) -> ImagesMade:
        """Make images."""
        with posture():
            async with Heartbeat():
                made = await self._providers.makers(query.model).image_maker(query.model).make_images(query)
                share = INLINE_BYTES // len(made.images)
                kept = [await self._kept(image, share) for image in made.images]
            return made.model_copy(update={"images": tuple(kept)})

    @activity_named(GENERATE_SPEECH)
    async def generate_speech(self, query: SpeechQuery) -> SpeechMade:
        """Speak a text."""
        with posture():
            async with Heartbeat():
                made = await self._providers.makers(query.model).speaker(query.model).speak(query)
                return made.model_copy(update={"audio": await self._kept(made.audio, INLINE_BYTES)})

    @activity_named(TRANSCRIBE)
    async def transcribe(self, query: TranscriptionQuery) -> TranscriptionMade:
        """Write down what is said."""
        with posture():
            async with Heartbeat():
                return await self._providers.makers(query.model).transcriber(query.model).transcribe(query)

    @activity_named(GENERATE_VIDEO)
    async def generate_video(self, query: VideoQuery) -> VideoMade:
        """Make a video."""
        with posture():
            async with Heartbeat():
                made = await self._providers.makers(query.model).video_maker(query.model).make_video(query)
                return made.model_copy(update={"video": await self._kept(made.video, INLINE_BYTES)})

    async def _kept(self, part: _Media, most: int) -> _Media:
        data = part.data
        if data is None or len(data) <= most:
            return part
        ending = mimetypes.guess_extension(part.media_type) or ".bin"
        path = self._folder / f"{hashlib.sha256(data).hexdigest()[:32]}{ending}"
        await in_thread(lambda: _write(path, data), name=path.name)
        return part.model_copy(update={"data": None, "url": path.absolute().as_uri()})


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as error:
        raise OperatorError(f"The folder {path.parent} cannot take what was made: {error.strerror}.") from None
