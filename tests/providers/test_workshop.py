from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from perdure.contracts.errors import BadReplyError
from perdure.contracts.generation import EmbeddingQuery, ImageQuery, SpeechQuery, TranscriptionQuery
from perdure.contracts.messages import AudioPart
from perdure.providers.makers import Makers
from perdure.providers.workshop import Attachment, form
from tests.providers.making import Server, making

SOUND = AudioPart(media_type="audio/wav", data=b"sound")
ASKING: dict[str, Callable[[Makers, str], Awaitable[Any]]] = {
    "embed": lambda makers, model: makers.embedder(model).embed(EmbeddingQuery(model=model, texts=("a",))),
    "image": lambda makers, model: makers.image_maker(model).make_images(ImageQuery(model=model, prompt="sea")),
    "speech": lambda makers, model: makers.speaker(model).speak(SpeechQuery(model=model, text="Hi")),
    "transcribe": lambda makers, model: makers.transcriber(model).transcribe(
        TranscriptionQuery(model=model, audio=SOUND)
    ),
}
MODELS = {
    "embed": ("openai:text-embedding-3-small", "gemini:gemini-embedding-001"),
    "image": ("openai:gpt-image-1", "gemini:gemini-2.5-flash-image"),
    "speech": ("openai:tts-1",),
    "transcribe": ("openai:whisper-1",),
}


def test_a_file_keeps_its_bytes_and_its_name_breaks_no_line() -> None:
    file = Attachment("file", 'a"\r\nx: y\\.mp3', "audio/mpeg\r\nx: y", bytes(range(256)))
    written = form({"model": "é"}, (file,), "b")
    assert written == (
        b'--b\r\ncontent-disposition: form-data; name="model"\r\n\r\n\xc3\xa9\r\n'
        b'--b\r\ncontent-disposition: form-data; name="file"; filename="ax: y.mp3"\r\n'
        b"content-type: audio/mpegx: y\r\n\r\n" + bytes(range(256)) + b"\r\n--b--\r\n"
    )


def test_a_name_of_nothing_printable_is_a_name_all_the_same() -> None:
    assert b'filename="file"' in form({}, (Attachment("file", '"', "audio/wav", b""),), "b")


@pytest.mark.parametrize(("kind", "model"), [(kind, model) for kind, models in MODELS.items() for model in models])
@pytest.mark.parametrize(
    ("media_type", "body", "said"),
    [
        ("text/html; charset=utf-8", b" <!DOCTYPE html><p>canary", "answer is a web page: is base_url right?"),
        ("text/event-stream", b'data: {"text": "canary"}\n\n', "the reply is no whole JSON; is base_url right?"),
        ("application/json", b'"canary"', "answer is no JSON object: is base_url right?"),
        ("application/json", b'[{"message": "canary"}]', "answer is no JSON object: is base_url right?"),
        ("application/json", b'{"message": "canary", "detail": "canary"}', ""),
        ("application/json", json.dumps({"choices": [{"message": {"content": "canary"}}]}).encode(), ""),
    ],
)
async def test_a_reply_of_another_kind_is_told_and_not_quoted(
    kind: str, model: str, media_type: str, body: bytes, said: str
) -> None:
    async with making(Server(body, media_type=media_type), provider=model.partition(":")[0]) as makers:
        with pytest.raises(BadReplyError) as caught:
            await ASKING[kind](makers, model)
    assert said in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("body", [{"error": {"message": "too busy"}}, [{"error": {"message": "too busy"}}]])
async def test_an_error_in_a_good_reply_is_told_in_its_words(body: Any) -> None:
    for kind, (model, *_) in MODELS.items():
        async with making(Server(body)) as makers:
            with pytest.raises(BadReplyError, match="too busy"):
                await ASKING[kind](makers, model)
