"""A model request of ours as a request of OpenAI's chat protocol, in the dialect of the server that gets it.

What the protocol cannot carry is refused by name, or adapted as said here, never dropped in silence: text files are
sent as text, arguments that are no JSON as an object that quotes them, names and ids in a form that the server takes.
What another provider did by itself stays away: the text beside it says what came of it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from perdure.contracts.attachments import is_text
from perdure.contracts.errors import BadRequestError
from perdure.contracts.messages import (
    AssistantMessage,
    AudioPart,
    FilePart,
    ImagePart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from perdure.contracts.prompts import ModelRequest
from perdure.providers.dialects import Dialect
from perdure.providers.encoding import arguments_text, call_ids, data_url, file_text, in_base64, result_text
from perdure.providers.hosted_tools import for_chat
from perdure.providers.lenient import Json, a_list
from perdure.providers.schemas import for_openai
from perdure.providers.tool_names import ToolNames

_KEY_LENGTH = 64
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
_AUDIO_FORMATS = {"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav"}


def encode(request: ModelRequest, dialect: Dialect, *, provider: str, origin: str, names: ToolNames) -> Json:
    """The body of a streaming request; ``origin`` is whose opaque data may go along.

    Raises BadRequestError for a part that the protocol cannot carry.
    """
    body: Json = {
        "model": request.model.partition(":")[2],
        "messages": list(_Messages(request, dialect, provider, origin, names).encoded()),
        "stream": True,
    }
    if dialect.stream_usage:
        body["stream_options"] = {"include_usage": True}
    fields, hosted = for_chat(request.hosted, dialect)
    if request.tools or hosted:
        body["tools"] = [*_functions(request, names), *hosted]
    if request.must_call:
        body["tool_choice"] = "required"
    body.update(fields)
    if request.output_schema is not None and (schema := for_openai(request.output_schema)):
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.max_output_tokens is not None:
        body[dialect.output_limit] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if dialect.cache_key and request.cache_key:
        body["prompt_cache_key"] = cache_key_sent(request.cache_key)
    return body


def _functions(request: ModelRequest, names: ToolNames) -> Iterator[Json]:
    for tool in request.tools:
        function: Json = {
            "name": names.sent(tool.name),
            "description": tool.description,
            "parameters": tool.parameters,
        }
        yield {"type": "function", "function": function}


class _Messages:
    def __init__(self, request: ModelRequest, dialect: Dialect, provider: str, origin: str, names: ToolNames) -> None:
        self._request = request
        self._dialect = dialect
        self._provider = provider
        self._origin = origin
        self._names = names
        self._ids = {ours: self._dialect_id(sent) for ours, sent in call_ids(request, fits=self._takes).items()}

    def encoded(self) -> Iterable[Json]:
        if self._request.system:
            yield {"role": self._dialect.system_role, "content": self._request.system}
        after_tool = False
        for message in self._request.messages:
            match message:
                case UserMessage():
                    if after_tool and not self._dialect.user_after_tool:
                        yield {"role": "assistant", "content": "OK"}
                    yield {"role": "user", "content": self._user(message)}
                case AssistantMessage():
                    if not message.calls and not self._said(message):
                        continue
                    yield self._assistant(message)
                case ToolMessage():
                    yield {
                        "role": "tool",
                        "tool_call_id": self._ids.get(message.call_id) or self._dialect_id(message.call_id),
                        "content": result_text(message),
                    }
            after_tool = isinstance(message, ToolMessage)

    def _user(self, message: UserMessage) -> JsonValue:
        parts = [self._user_part(part) for part in message.parts]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if len(texts) == len(parts) and (len(parts) <= 1 or not self._dialect.content_lists):
            return "\n\n".join(str(text) for text in texts)
        if not self._dialect.content_lists:
            kinds = ", ".join(sorted({part.kind for part in message.parts if part.kind != "text"}))
            raise BadRequestError(self._provider, f"this provider takes text alone, and the message holds {kinds}")
        return list(parts)

    def _user_part(self, part: TextPart | ImagePart | AudioPart | FilePart) -> Json:
        match part:
            case TextPart():
                return {"type": "text", "text": part.text}
            case ImagePart():
                return {"type": "image_url", "image_url": {"url": part.url or data_url(part.media_type, part.data)}}
            case AudioPart():
                sound = _AUDIO_FORMATS.get(part.media_type)
                if part.data is None or sound is None:
                    raise BadRequestError(
                        self._provider, f"audio must be wav or mp3 data in this protocol, not {_described(part)}"
                    )
                return {"type": "input_audio", "input_audio": {"data": in_base64(part.data), "format": sound}}
            case FilePart():
                return self._file(part)

    def _file(self, part: FilePart) -> Json:
        if part.data is None:
            raise BadRequestError(
                self._provider, f"files must be data in this protocol, not an address: {_described(part)}"
            )
        if is_text(part.media_type):
            return {"type": "text", "text": file_text(part)}
        return {
            "type": "file",
            "file": {"filename": part.name or "file", "file_data": data_url(part.media_type, part.data)},
        }

    def _said(self, message: AssistantMessage) -> str:
        """The message's text, with a word in place of each part that an assistant message cannot carry."""
        return "".join(
            part.text if part.kind == "text" else f"[{part.kind}]"
            for part in message.parts
            if part.kind not in ("reasoning", "call", "hosted")
        )

    def _assistant(self, message: AssistantMessage) -> Json:
        encoded: Json = {"role": "assistant", "content": self._said(message) or None}
        if message.calls:
            own = message.model == self._request.model
            encoded["tool_calls"] = [
                {
                    "id": self._ids[call.call_id],
                    "type": "function",
                    "function": {"name": self._names.sent(call.tool), "arguments": arguments_text(call)},
                    **(call.opaque.data if own and call.opaque and call.opaque.origin == self._origin else {}),
                }
                for call in message.calls
            ]
            encoded.update(self._reasoning(message) if own else {})
        return encoded

    def _reasoning(self, message: AssistantMessage) -> Json:
        """The reasoning that goes back with calls."""
        field = self._dialect.reasoning_replay
        parts = [part for part in message.parts if part.kind == "reasoning"]
        if field == "none":
            return {}
        if field == "reasoning_details":
            kept = (part.opaque.data for part in parts if part.opaque and part.opaque.origin == self._origin)
            details = [detail for data in kept for detail in a_list(data.get(field))]
            return {field: details} if details else {}
        text = "".join(part.text for part in parts)
        return {field: text} if text else {}

    def _takes(self, call_id: str) -> bool:
        return bool(_SHORT_ID.fullmatch(call_id) if self._dialect.call_ids == "short" else call_id)

    def _dialect_id(self, call_id: str) -> str:
        return call_id if self._takes(call_id) else hashlib.sha256(call_id.encode()).hexdigest()[:9]


def cache_key_sent(key: str) -> str:
    """``key`` in a length that the server takes."""
    return key if len(key) <= _KEY_LENGTH else hashlib.sha256(key.encode()).hexdigest()


def _described(part: AudioPart | FilePart) -> str:
    return f"{part.media_type} {'by address' if part.data is None else 'data'}"
