"""A model request of ours as a request of OpenAI's chat protocol, in the dialect of the server that gets it.

What the protocol cannot carry is refused by name, or adapted as said here, never dropped in silence: text files are
sent as text, arguments that are no JSON as an object that quotes them, names and ids in a form that the server takes.
What another provider did by itself stays away: the text beside it says what came of it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from perdure.contracts.errors import BadRequestError
from perdure.contracts.messages import (
    AssistantMessage,
    AudioPart,
    CallPart,
    FilePart,
    ImagePart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from perdure.contracts.prompts import ModelRequest
from perdure.providers.dialects import Dialect
from perdure.providers.hosted_tools import for_chat
from perdure.providers.lenient import Json, a_list
from perdure.providers.schemas import for_openai

_NAME_LENGTH = 64
_KEY_LENGTH = 64
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
_TEXT_TYPES = re.compile(r"text/.*|application/(?:json|xml|yaml|x-yaml|toml)")
_AUDIO_FORMATS = {"audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav"}


class ToolNames:
    """Tool names as the server takes them (letters, digits, ``_`` and ``-``, 64 at most), and back to ours.

    With ``letter_first`` they begin with a letter or ``_``, which Gemini demands.
    """

    def __init__(self, names: Iterable[str], *, letter_first: bool = False) -> None:
        self._letter_first = letter_first
        self._sent: dict[str, str] = {}
        self._ours: dict[str, str] = {}
        # Names that need no change are settled first, so that no changed one takes their place.
        for name in sorted(dict.fromkeys(names), key=lambda name: self._legal(name) != name):
            sent = self._legal(name)
            if sent in self._ours:
                sent = f"{sent[: _NAME_LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
            self._sent[name], self._ours[sent] = sent, name

    def sent(self, name: str) -> str:
        """The name that the server is told."""
        return self._sent.get(name) or self._legal(name)

    def ours(self, name: str) -> str:
        """The name that a server's name stands for; a name that we never told it stays as it is."""
        return self._ours.get(name, name)

    def _legal(self, name: str) -> str:
        legal = _ILLEGAL.sub("_", name) or "_"
        if self._letter_first and not (legal[0].isalpha() or legal[0] == "_"):
            legal = f"_{legal}"
        if len(legal) <= _NAME_LENGTH:
            return legal
        return f"{legal[: _NAME_LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def tool_names(request: ModelRequest) -> ToolNames:
    """The names of the tools that a request offers or remembers."""
    called = (
        call.tool for message in request.messages if isinstance(message, AssistantMessage) for call in message.calls
    )
    return ToolNames((*(tool.name for tool in request.tools), *called))


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
        self._ids = self._call_ids()

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
                        "content": message.text or ("" if message.data is None else json.dumps(message.data)),
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
                return {"type": "input_audio", "input_audio": {"data": _base64(part.data), "format": sound}}
            case FilePart():
                return self._file(part)

    def _file(self, part: FilePart) -> Json:
        if part.data is None:
            raise BadRequestError(
                self._provider, f"files must be data in this protocol, not an address: {_described(part)}"
            )
        if is_text(part.media_type):
            text = part.data.decode("utf-8", "replace")
            return {"type": "text", "text": f"File {part.name or 'without a name'}:\n\n{text}"}
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
                    "function": {"name": self._names.sent(call.tool), "arguments": arguments_sent(call)},
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

    def _call_ids(self) -> dict[str, str]:
        """The id under which each call is sent: the provider's own where it made the call and the id is unique."""
        calls = [
            (call, message.model.partition(":")[0] == self._request.model.partition(":")[0])
            for message in self._request.messages
            if isinstance(message, AssistantMessage)
            for call in message.calls
        ]
        seen = Counter(call.provider_call_id for call, _ in calls)
        return {
            call.call_id: call.provider_call_id
            if own and seen[call.provider_call_id] == 1 and self._takes(call.provider_call_id)
            else self._dialect_id(call.call_id)
            for call, own in calls
        }

    def _takes(self, call_id: str) -> bool:
        return bool(_SHORT_ID.fullmatch(call_id) if self._dialect.call_ids == "short" else call_id)

    def _dialect_id(self, call_id: str) -> str:
        return call_id if self._takes(call_id) else hashlib.sha256(call_id.encode()).hexdigest()[:9]


def cache_key_sent(key: str) -> str:
    """``key`` in a length that the server takes."""
    return key if len(key) <= _KEY_LENGTH else hashlib.sha256(key.encode()).hexdigest()


def arguments_sent(call: CallPart) -> str:
    """The arguments of an earlier call, always a JSON object: servers parse them again and fail on anything else."""
    if call.arguments is None:
        return json.dumps({"invalid_json": call.arguments_text}, ensure_ascii=False)
    return call.arguments_text if call.arguments_text.strip() else "{}"


def is_text(media_type: str) -> bool:
    """Whether files of this type can be read as they are."""
    return _TEXT_TYPES.fullmatch(media_type) is not None


def data_url(media_type: str, data: bytes | None) -> str:
    """``data`` as an address that holds it."""
    return f"data:{media_type};base64,{_base64(data or b'')}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _described(part: AudioPart | FilePart) -> str:
    return f"{part.media_type} {'by address' if part.data is None else 'data'}"
