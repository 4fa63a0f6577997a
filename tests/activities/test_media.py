from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.media import INLINE_BYTES, MediaActivities
from perdure.contracts.generation import (
    ImageQuery,
    ImagesMade,
    SpeechMade,
    SpeechQuery,
    TranscriptionMade,
    TranscriptionQuery,
    VideoQuery,
)
from perdure.contracts.messages import AudioPart, ImagePart
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.registry import ProviderRegistry

SMALL, LARGE = b"small", b"large" * INLINE_BYTES


class Maker:
    """Makes one medium of everything."""

    def __init__(self, *data: bytes) -> None:
        self._data = data

    def makers(self, model: str) -> Maker:
        return self

    image_maker = speaker = transcriber = makers

    async def make_images(self, query: ImageQuery) -> ImagesMade:
        return ImagesMade(images=tuple(ImagePart(data=data) for data in self._data), text=query.prompt)

    async def speak(self, query: SpeechQuery) -> SpeechMade:
        return SpeechMade(audio=AudioPart(media_type=query.media_type, data=self._data[0]))

    async def transcribe(self, query: TranscriptionQuery) -> TranscriptionMade:
        return TranscriptionMade(text=(query.audio.data or b"").decode())


async def ran(name: str, query: Any, providers: Any, folder: Path) -> Any:
    return await ActivityEnvironment().run(getattr(MediaActivities(providers, folder), name), query)


def files(folder: Path) -> list[Path]:
    return [*folder.iterdir()]


def content(file: Path) -> bytes:
    return file.read_bytes()


async def test_small_media_come_with_the_result(tmp_path: Path) -> None:
    made = await ran("generate_image", ImageQuery(model="corp:i", prompt="sea"), Maker(SMALL), tmp_path)
    assert made == ImagesMade(images=(ImagePart(data=SMALL),), text="sea")
    spoken = await ran("generate_speech", SpeechQuery(model="corp:s", text="Hi"), Maker(SMALL), tmp_path)
    assert spoken.audio == AudioPart(media_type="audio/mpeg", data=SMALL)
    sound = AudioPart(data=b"Hello")
    heard = await ran("transcribe", TranscriptionQuery(model="corp:t", audio=sound), Maker(), tmp_path)
    assert heard.text == "Hello"
    assert files(tmp_path) == []


async def test_large_media_lie_in_a_file_named_by_its_content(tmp_path: Path) -> None:
    for _ in range(2):
        made = await ran("generate_image", ImageQuery(model="corp:i", prompt="sea"), Maker(SMALL, LARGE), tmp_path)
        small, large = made.images
        assert small == ImagePart(data=SMALL)
        assert large.data is None
        (file,) = files(tmp_path / "media")
        assert large.url == file.as_uri()
        assert content(file) == LARGE
    assert file.suffix == ".png"
    assert len(made.model_dump_json()) < INLINE_BYTES


async def test_a_workspace_that_takes_no_media_is_told(tmp_path: Path) -> None:
    (tmp_path / "media").write_text("a file")
    with pytest.raises(ApplicationError, match=r"media cannot take what was made: File exists\.") as caught:
        await ran("generate_image", ImageQuery(model="corp:i", prompt="sea"), Maker(LARGE), tmp_path)
    assert caught.value.type == "unavailable"


async def test_several_media_share_what_a_result_holds(tmp_path: Path) -> None:
    half = b"h" * (INLINE_BYTES * 2 // 3)
    made = await ran("generate_image", ImageQuery(model="corp:i", prompt="sea"), Maker(half, half), tmp_path)
    assert all(image.data is None for image in made.images)


async def test_nobody_makes_videos_yet(tmp_path: Path) -> None:
    registry = ProviderRegistry(ProviderSettings(), {"GEMINI_API_KEY": "k"})
    with pytest.raises(ApplicationError, match="gemini:veo-3 lacks making videos") as caught:
        await ran("generate_video", VideoQuery(model="gemini:veo-3", prompt="sea"), registry, tmp_path)
    assert (caught.value.type, caught.value.non_retryable) == ("unsupported", True)
    await registry.close()
