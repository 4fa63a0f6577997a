"""Images by Gemini's generateContent: a model that answers with images among its text."""

from __future__ import annotations

import re

from pydantic import JsonValue

from perdure.contracts.errors import InvalidInputError, RefusedError
from perdure.contracts.generation import ImageQuery, ImagesMade
from perdure.providers.encoding import in_base64
from perdure.providers.gemini_decoding import image_of, usage_of
from perdure.providers.gemini_encoding import path
from perdure.providers.lenient import Json, a_list, a_text, an_object
from perdure.providers.workshop import Workshop

_RATIO = re.compile(r"\d+:\d+")


class GeminiImageMaker:
    """Makes images: one for each request, of the media type that the model chooses."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def make_images(self, query: ImageQuery) -> ImagesMade:
        """The images. Raises ProviderError, and InvalidInputError for what the protocol has no word for."""
        reply = await self._workshop.ask(path(query.model, "generateContent"), _body(query))
        candidate = an_object(next(iter(a_list(reply.get("candidates"))), None))
        parts = [an_object(part) for part in a_list(an_object(candidate.get("content")).get("parts"))]
        shown = [part for part in parts if part.get("thought") is not True]
        images = tuple(image for part in shown if (image := image_of(an_object(part.get("inlineData")))))
        text = "".join(a_text(part.get("text")) for part in shown)
        if not images:
            blocked = a_text(an_object(reply.get("promptFeedback")).get("blockReason"))
            why = blocked or a_text(candidate.get("finishReason"))
            if not why:
                raise self._workshop.bad("the answer holds no image")
            raise RefusedError(self._workshop.provider, f"no image was made ({why})", code=why)
        usage = usage_of(an_object(reply.get("usageMetadata"))).model_copy(update={"requests": 1})
        cost = self._workshop.cost(query.model, usage if reply.get("usageMetadata") else None)
        return ImagesMade(images=images, text=text, usage=usage, cost=cost)


def _body(query: ImageQuery) -> Json:
    if query.count != 1:
        raise InvalidInputError("Gemini makes one image for each request: leave count at 1.")
    if query.size and not _RATIO.fullmatch(query.size):
        raise InvalidInputError(f"Gemini takes the size of an image as a ratio, such as 16:9, not {query.size!r}.")
    if query.quality:
        raise InvalidInputError("Gemini has no word for the quality of an image: leave it empty.")
    parts: list[JsonValue] = [{"text": query.prompt}]
    for image in query.images:
        if image.data is None:
            raise InvalidInputError("Images that are to be changed must be data here, not an address.")
        parts.append({"inlineData": {"mimeType": image.media_type, "data": in_base64(image.data)}})
    config: Json = {"responseModalities": ["TEXT", "IMAGE"]}
    if query.size:
        config["imageConfig"] = {"aspectRatio": query.size}
    return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}
