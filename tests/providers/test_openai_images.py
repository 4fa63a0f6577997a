from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from perdure.contracts.errors import BadReplyError, BadRequestError, InvalidInputError
from perdure.contracts.generation import ImageQuery, ImagesMade
from perdure.contracts.messages import ImagePart
from perdure.contracts.usage import Cost, Usage
from tests.providers.making import Server, making

PIXEL = base64.b64encode(b"pixel").decode()
USAGE = {"input_tokens": 10, "output_tokens": 4160, "total_tokens": 4170}


async def made(server: Server, model: str = "openai:gpt-image-1", **fields: Any) -> ImagesMade:
    async with making(server) as makers:
        query = ImageQuery.model_validate({"model": model, "prompt": "the sea", **fields})
        return await makers.image_maker(model).make_images(query)


async def test_images_come_as_data_with_what_they_took() -> None:
    server = Server({"data": [{"b64_json": PIXEL}, {"b64_json": PIXEL}], "output_format": "webp", "usage": USAGE})
    result = await made(server, count=2, size="1024x1536", quality="low", media_type="image/webp")
    assert result.images == (ImagePart(media_type="image/webp", data=b"pixel"),) * 2
    assert result.usage == Usage(requests=1, input_tokens=10, output_tokens=4160)
    assert json.loads(server.requests[0].content) == {
        "model": "gpt-image-1",
        "prompt": "the sea",
        "n": 2,
        "size": "1024x1536",
        "quality": "low",
        "output_format": "webp",
    }
    assert server.requests[0].url.path == "/v1/images/generations"


async def test_an_older_model_is_asked_for_data_in_its_own_words() -> None:
    server = Server({"data": [{"b64_json": PIXEL, "revised_prompt": "The calm sea"}]})
    result = await made(server, "openai:dall-e-3", media_type="image/jpeg")
    assert result == ImagesMade(
        images=(ImagePart(data=b"pixel"),),
        text="The calm sea",
        usage=Usage(requests=1),
        cost=Cost(unpriced=1),
    )
    assert json.loads(server.requests[0].content)["response_format"] == "b64_json"


async def test_given_images_go_as_files_of_a_form() -> None:
    server = Server({"data": [{"url": "https://images.example/1.png"}]})
    result = await made(server, images=[ImagePart(media_type="image/jpeg", data=b"\xff\xd8\r\n--x")])
    assert result.images == (ImagePart(url="https://images.example/1.png"),)
    request = server.requests[0]
    assert request.url.path == "/v1/images/edits"
    kind, _, boundary = request.headers["content-type"].partition("; boundary=")
    assert kind == "multipart/form-data"
    parts = request.content.split(f"--{boundary}".encode())
    assert (parts[0], parts[-1]) == (b"", b"--\r\n")
    assert b'name="prompt"\r\n\r\nthe sea\r\n' in parts[2]
    assert parts[-2] == (
        b'\r\ncontent-disposition: form-data; name="image[]"; filename="image-1.jpeg"\r\n'
        b"content-type: image/jpeg\r\n\r\n\xff\xd8\r\n--x\r\n"
    )


async def test_an_image_by_address_cannot_be_changed() -> None:
    with pytest.raises(InvalidInputError, match="must be data here"):
        await made(Server({}), images=[ImagePart(url="https://images.example/1.png")])


@pytest.mark.parametrize("data", [[], [{}], [{"b64_json": "?"}], [{"b64_json": "é"}], [{"b64_json": PIXEL}, {}]])
async def test_an_image_that_is_missing_is_an_error(data: list[Any]) -> None:
    with pytest.raises(BadReplyError, match="an image is missing"):
        await made(Server({"data": data}))


async def test_a_refused_prompt_is_the_error_that_the_provider_gave() -> None:
    error = {"error": {"message": "Your request was rejected by the safety system", "code": "moderation_blocked"}}
    with pytest.raises(BadRequestError, match="safety system"):
        await made(Server(error, status=400))
