"""What models make beside conversations, each by one activity: objects, embeddings, images, speech, text, videos."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, FiniteFloat, JsonValue

from perdure.contracts.messages import AudioPart, FilePart, ImagePart, UserPart
from perdure.contracts.record import Record
from perdure.contracts.usage import Cost, Usage

Way = Literal["schema", "tool", "text"]
"""How an object was got: the server held the model to the schema, the model called a tool with it, or wrote it."""


class ObjectQuery(Record):
    """Input of ``generate_object``: what is asked, and the JSON Schema that the answer must fit."""

    model: str
    output_schema: dict[str, JsonValue]
    prompt: str = ""
    parts: tuple[UserPart, ...] = ()
    system: str = ""
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: FiniteFloat | None = None


class ObjectMade(Record):
    """Result of ``generate_object``. ``repaired``: the first answer did not fit and was asked for again."""

    value: JsonValue
    way: Way
    repaired: bool = False
    usage: Usage = Usage()
    cost: Cost = Cost()


class EmbeddingQuery(Record):
    """Input of ``embed``. ``purpose``: what is looked for, or where; models that tell the two apart are told."""

    model: str
    texts: tuple[str, ...]
    dimensions: Annotated[int, Field(ge=1)] | None = None
    purpose: Literal["query", "document"] | None = None


class EmbeddingsMade(Record):
    """Result of ``embed``: one vector for each text, in their order."""

    vectors: tuple[tuple[FiniteFloat, ...], ...]
    usage: Usage = Usage()
    cost: Cost = Cost()


class ImageQuery(Record):
    """Input of ``generate_image``. ``images`` are to be changed or to go by.

    ``size`` is in the provider's own words: ``1024x1536`` at OpenAI, ``16:9`` at Gemini; empty leaves it to the model.
    """

    model: str
    prompt: str
    images: tuple[ImagePart, ...] = ()
    count: int = Field(default=1, ge=1)
    size: str = ""
    quality: str = ""
    media_type: Literal["image/png", "image/jpeg", "image/webp"] = "image/png"


class ImagesMade(Record):
    """Result of ``generate_image``. Images too large for a result lie in a file of the worker: ``file:`` addresses."""

    images: tuple[ImagePart, ...]
    text: str = ""
    usage: Usage = Usage()
    cost: Cost = Cost()


class SpeechQuery(Record):
    """Input of ``generate_speech``."""

    model: str
    text: str
    voice: str = "alloy"
    instructions: str = ""
    media_type: Literal["audio/mpeg", "audio/wav", "audio/flac", "audio/aac", "audio/opus"] = "audio/mpeg"


class SpeechMade(Record):
    """Result of ``generate_speech``. Audio too large for a result lies in a file of the worker: a ``file:`` address."""

    audio: AudioPart
    cost: Cost = Cost()


class TranscriptionQuery(Record):
    """Input of ``transcribe``. ``language`` is a code of two letters; ``prompt`` may hold names and words to expect."""

    model: str
    audio: AudioPart
    language: str = ""
    prompt: str = ""


class TranscriptionMade(Record):
    """Result of ``transcribe``."""

    text: str
    usage: Usage = Usage()
    cost: Cost = Cost()


class VideoQuery(Record):
    """Input of ``generate_video``."""

    model: str
    prompt: str
    images: tuple[ImagePart, ...] = ()
    seconds: Annotated[int, Field(ge=1)] | None = None
    size: str = ""


class VideoMade(Record):
    """Result of ``generate_video``."""

    video: FilePart
    cost: Cost = Cost()
