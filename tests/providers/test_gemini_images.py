from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from perdure.contracts.errors import InvalidInputError, RefusedError
from perdure.contracts.generation import ImageQuery, ImagesMade
from perdure.contracts.messages import ImagePart
from perdure.contracts.usage import Usage
from tests.providers.making import Server, making

MODEL = "gemini:gemini-2.5-flash-image"
PIXEL = base64.b64encode(b"pixel").decode()


def reply(*parts: Any, finish: str = "STOP", **fields: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, "finishReason": finish}], **fields}


def image(**beside: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": PIXEL}, **beside}


async def made(server: Server, **fields: Any) -> ImagesMade:
    async with making(server, provider="gemini") as makers:
        query = ImageQuery.model_validate({"model": MODEL, "prompt": "the sea", **fields})
        return await makers.image_maker(MODEL).make_images(query)


async def test_an_image_comes_among_text_and_drafts_stay_away() -> None:
    usage = {"promptTokenCount": 5, "candidatesTokenCount": 1290}
    server = Server(reply({"text": "Here: "}, image(thought=True), image(), usageMetadata=usage))
    result = await made(server, size="16:9", images=[ImagePart(media_type="image/jpeg", data=b"old")])
    assert result.images == (ImagePart(data=b"pixel"),)
    assert result.text == "Here: "
    assert result.usage == Usage(requests=1, input_tokens=5, output_tokens=1290)
    assert json.loads(server.requests[0].content) == {
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "the sea"}, {"inlineData": {"mimeType": "image/jpeg", "data": "b2xk"}}],
            }
        ],
        "generationConfig": {"responseModalities": ["TEXT", "IMAGE"], "imageConfig": {"aspectRatio": "16:9"}},
    }
    assert server.requests[0].url.path == "/v1beta/models/gemini-2.5-flash-image:generateContent"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (reply({"text": "I cannot."}, finish="IMAGE_SAFETY"), "IMAGE_SAFETY"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "PROHIBITED_CONTENT"),
        ({"candidates": [{}], "promptFeedback": {"blockReason": "OTHER"}}, "OTHER"),
        (reply({"inlineData": {"mimeType": "image/png", "data": "?"}}), "STOP"),
    ],
)
async def test_no_image_is_a_refusal_with_its_reason(answer: dict[str, Any], why: str) -> None:
    with pytest.raises(RefusedError, match=f"no image was made \\({why}\\)"):
        await made(Server(answer))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"count": 2}, "leave count at 1"),
        ({"size": "1024x1024"}, "as a ratio, such as 16:9"),
        ({"quality": "high"}, "no word for the quality"),
        ({"images": [ImagePart(url="https://images.example/1.png")]}, "must be data here"),
    ],
)
async def test_what_the_protocol_has_no_word_for_is_refused_by_name(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        await made(Server({}), **fields)
