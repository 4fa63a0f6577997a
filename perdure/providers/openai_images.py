"""Images by OpenAI's protocol: made from words alone, or by changing images that are given."""

from __future__ import annotations

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.generation import ImageQuery, ImagesMade
from perdure.contracts.messages import ImagePart
from perdure.providers.lenient import Json, a_list, a_text, an_object, some_bytes
from perdure.providers.openai_responses_decoding import usage_of
from perdure.providers.workshop import Attachment, Workshop


class OpenAIImageMaker:
    """Makes images. ``dall-e`` models take no format: theirs are PNG."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def make_images(self, query: ImageQuery) -> ImagesMade:
        """The images. Raises ProviderError, and InvalidInputError for an image that is given by address."""
        fields = _fields(query)
        if query.images:
            files = tuple(_attached(image, number) for number, image in enumerate(query.images, 1))
            reply = await self._workshop.submit("/images/edits", fields, files)
        else:
            # The number is the only field that is none of text.
            body: Json = {**fields, "n": query.count}
            reply = await self._workshop.ask("/images/generations", body)
        kind = f"image/{form}" if (form := a_text(reply.get("output_format"))) else _made_as(query)
        entries = [an_object(entry) for entry in a_list(reply.get("data"))]
        images = tuple(image for entry in entries if (image := _image(entry, kind)))
        if not images or len(images) != len(entries):
            raise self._workshop.bad("an image is missing from the answer")
        text = "\n".join(word for entry in entries if (word := a_text(entry.get("revised_prompt"))))
        used = an_object(reply.get("usage"))
        usage = usage_of(used).model_copy(update={"requests": 1})
        cost = self._workshop.cost(query.model, usage if used else None)
        return ImagesMade(images=images, text=text, usage=usage, cost=cost)


def _fields(query: ImageQuery) -> dict[str, str]:
    model = query.model.partition(":")[2]
    given = {"model": model, "prompt": query.prompt, "n": str(query.count), "size": query.size}
    given["quality"] = query.quality
    if model.startswith("dall-e"):
        given["response_format"] = "b64_json"
    else:
        given["output_format"] = query.media_type.removeprefix("image/")
    return {key: value for key, value in given.items() if value}


def _made_as(query: ImageQuery) -> str:
    return "image/png" if "dall-e" in query.model else query.media_type


def _attached(image: ImagePart, number: int) -> Attachment:
    if image.data is None:
        raise InvalidInputError("Images that are to be changed must be data here, not an address.")
    ending = image.media_type.rpartition("/")[2]
    return Attachment("image[]", f"image-{number}.{ending}", image.media_type, image.data)


def _image(entry: Json, kind: str) -> ImagePart | None:
    if url := a_text(entry.get("url")):
        return ImagePart(media_type=kind, url=url)
    data = some_bytes(entry.get("b64_json"))
    return ImagePart(media_type=kind, data=data) if data else None
