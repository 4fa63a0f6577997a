from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.contracts.errors import BadReplyError, InvalidInputError, ProviderError
from perdure.contracts.generation import SpeechMade, SpeechQuery, TranscriptionMade, TranscriptionQuery
from perdure.contracts.messages import AudioPart
from perdure.contracts.usage import Cost, Usage
from tests.providers.making import Server, making

SPEAKER = "openai:gpt-4o-mini-tts"
TRANSCRIBER = "openai:gpt-4o-mini-transcribe"


async def spoken(server: Server, **fields: Any) -> SpeechMade:
    async with making(server) as makers:
        return await makers.speaker(SPEAKER).speak(SpeechQuery(model=SPEAKER, text="Hello", **fields))


async def transcribed(server: Server, audio: AudioPart, **fields: Any) -> TranscriptionMade:
    async with making(server) as makers:
        query = TranscriptionQuery(model=TRANSCRIBER, audio=audio, **fields)
        return await makers.transcriber(TRANSCRIBER).transcribe(query)


async def test_a_text_is_spoken_and_its_cost_is_said_to_be_unknown() -> None:
    server = Server(b"ID3 sound")
    made = await spoken(server, voice="ash", instructions="Whisper.", media_type="audio/opus")
    assert made == SpeechMade(audio=AudioPart(media_type="audio/opus", data=b"ID3 sound"), cost=Cost(unpriced=1))
    assert json.loads(server.requests[0].content) == {
        "model": "gpt-4o-mini-tts",
        "input": "Hello",
        "voice": "ash",
        "response_format": "opus",
        "instructions": "Whisper.",
    }
    assert server.requests[0].url.path == "/v1/audio/speech"


async def test_an_answer_without_sound_is_an_error() -> None:
    with pytest.raises(BadReplyError, match="the answer is empty"):
        await spoken(Server(b""))
    with pytest.raises(ProviderError, match="no such voice"):
        await spoken(Server({"error": {"message": "no such voice"}}))


async def test_a_recording_is_written_down() -> None:
    usage = {"type": "tokens", "input_tokens": 14, "output_tokens": 3}
    server = Server({"text": "Hello", "usage": usage})
    made = await transcribed(server, AudioPart(media_type="audio/mpeg", data=b"sound"), language="en", prompt="Perdure")
    assert (made.text, made.usage) == ("Hello", Usage(requests=1, input_tokens=14, output_tokens=3))
    sent = server.requests[0].content
    assert b'name="file"; filename="audio.mp3"\r\ncontent-type: audio/mpeg\r\n\r\nsound\r\n' in sent
    assert b'name="model"\r\n\r\ngpt-4o-mini-transcribe\r\n' in sent
    assert b'name="language"\r\n\r\nen\r\n' in sent
    assert server.requests[0].url.path == "/v1/audio/transcriptions"


async def test_silence_is_a_text_too_and_no_text_is_an_error() -> None:
    sound = AudioPart(data=b"sound")
    assert (await transcribed(Server({"text": ""}), sound)).cost == Cost(unpriced=1)
    with pytest.raises(BadReplyError, match="holds no text"):
        await transcribed(Server({"task": "transcribe"}), sound)


@pytest.mark.parametrize(
    "audio", [AudioPart(url="https://audio.example/1.mp3"), AudioPart(media_type="audio/midi", data=b"x")]
)
async def test_audio_that_cannot_be_sent_is_refused_by_name(audio: AudioPart) -> None:
    with pytest.raises(InvalidInputError, match=f"not {audio.media_type}"):
        await transcribed(Server({}), audio)
