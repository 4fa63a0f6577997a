"""Speech and transcription by OpenAI's protocol, which others speak as well (Groq, Mistral, own servers)."""

from __future__ import annotations

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.generation import SpeechMade, SpeechQuery, TranscriptionMade, TranscriptionQuery
from perdure.contracts.messages import AudioPart
from perdure.providers.lenient import Json, a_text, an_object
from perdure.providers.openai_responses_decoding import usage_of
from perdure.providers.workshop import Attachment, Workshop

_FORMATS = {"audio/mpeg": "mp3", "audio/wav": "wav", "audio/flac": "flac", "audio/aac": "aac", "audio/opus": "opus"}
_ENDINGS = {
    "audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav", "audio/flac": "flac",
    "audio/mp4": "m4a", "audio/x-m4a": "m4a", "audio/ogg": "ogg", "audio/webm": "webm",
}  # fmt: skip
"""The ending by which the server tells what it gets."""


class OpenAISpeaker:
    """Speaks. The server says nothing of what was used, so the cost is unpriced."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def speak(self, query: SpeechQuery) -> SpeechMade:
        """The text, spoken. Raises ProviderError."""
        body: Json = {
            "model": query.model.partition(":")[2],
            "input": query.text,
            "voice": query.voice,
            "response_format": _FORMATS[query.media_type],
        }
        if query.instructions:
            body["instructions"] = query.instructions
        data = await self._workshop.fetch("/audio/speech", body)
        audio = AudioPart(media_type=query.media_type, data=data)
        return SpeechMade(audio=audio, cost=self._workshop.cost(query.model, None))


class OpenAITranscriber:
    """Writes down what is said."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def transcribe(self, query: TranscriptionQuery) -> TranscriptionMade:
        """The text. Raises ProviderError, and InvalidInputError for audio by address or of an unknown kind."""
        ending = _ENDINGS.get(query.audio.media_type)
        if query.audio.data is None or ending is None:
            raise InvalidInputError(
                f"Audio to transcribe must be data of {', '.join(_ENDINGS)}, not {query.audio.media_type}"
                f"{' by address' if query.audio.data is None else ''}."
            )
        given = {
            "model": query.model.partition(":")[2],
            "response_format": "json",
            "language": query.language,
            "prompt": query.prompt,
        }
        fields = {key: value for key, value in given.items() if value}
        file = Attachment("file", f"audio.{ending}", query.audio.media_type, query.audio.data)
        reply = await self._workshop.submit("/audio/transcriptions", fields, (file,))
        if not isinstance(reply.get("text"), str):
            raise self._workshop.bad("the answer holds no text")
        used = an_object(reply.get("usage"))
        usage = usage_of(used).model_copy(update={"requests": 1})
        cost = self._workshop.cost(query.model, usage if "input_tokens" in used else None)
        return TranscriptionMade(text=a_text(reply["text"]), usage=usage, cost=cost)
