"""A model request of ours as a request of Gemini's generateContent.

What the protocol cannot carry is adapted as said here, or refused by name: text files are sent as text under their
names, arguments that are no JSON as an object that quotes them, results as objects, what other providers' tools did as
a word and its text. Thought signatures and other opaque data go back to the model that made them, and to no other.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote

from pydantic import JsonValue

from perdure.contracts.attachments import is_text
from perdure.contracts.errors import BadRequestError
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    AudioPart,
    CallPart,
    FilePart,
    ImagePart,
    Message,
    Opaque,
    TextPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.dialects import Dialect
from perdure.providers.encoding import arguments_sent, call_ids, file_text, in_base64
from perdure.providers.hosted_tools import for_gemini
from perdure.providers.lenient import Json
from perdure.providers.schemas import for_gemini as for_gemini_schema
from perdure.providers.tool_names import ToolNames, called_tools

UNSIGNED = in_base64(b"skip_thought_signature_validator")
"""The signature that Google documents for a call that Gemini did not make itself: without any, the request fails."""

# Models up to 2.5 ask for no signature, and nobody promises that they take this one.
_ASKS_FOR_NONE = re.compile(r"(?:models/)?(?:gemini-[12]\b|gemma)")
_DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
_RESULTS = {"executableCode": "codeExecutionResult", "toolCall": "toolResponse"}
_UNKNOWN_TYPE = "application/octet-stream"


def resource(model: str) -> str:
    """What Google calls ``model`` (``provider:model``): its name with the collection that it is of."""
    name = model.partition(":")[2]
    return name if "/" in name else f"models/{name}"


def path(model: str, method: str) -> str:
    """The path of a request to ``model``, below the endpoint's address."""
    return f"/{quote(resource(model))}:{method}"


def encode(request: ModelRequest, dialect: Dialect, *, provider: str, origin: str, names: ToolNames) -> Json:
    """The body of a request; ``origin`` is whose opaque data may go along.

    A request without tools whose messages hold calls declares those tools and forbids to call them, which keeps the
    model from calling them anyway. Raises BadRequestError for a part that the protocol cannot carry.
    """
    body: Json = {"contents": [*_Contents(request, provider, origin, names).encoded()]}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    tools: list[JsonValue] = [for_gemini(tool) for tool in request.hosted]
    if request.tools:
        tools.append({"functionDeclarations": [_declaration(tool, names) for tool in request.tools]})
    if tools:
        body["tools"] = tools
        body.update(_tool_config(request))
    elif called := called_tools(request):
        body["tools"] = [{"functionDeclarations": [_declaration(ToolSpec(name=name), names) for name in called]}]
        body["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    config: Json = {}
    if request.max_output_tokens is not None:
        config["maxOutputTokens"] = request.max_output_tokens
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if request.output_schema is not None and (schema := for_gemini_schema(request.output_schema)):
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = schema
    if dialect.thinking:
        budget: Json = {} if dialect.thinking == "adaptive" else {"thinkingBudget": dialect.thinking}
        config["thinkingConfig"] = {"includeThoughts": True, **budget}
    if config:
        body["generationConfig"] = config
    return body


def _tool_config(request: ModelRequest) -> Json:
    config: Json = {}
    if request.must_call:
        config["functionCallingConfig"] = {"mode": "ANY"}
    if request.hosted and request.tools:
        # Without it models of the third generation refuse Google's tools beside ours.
        config["includeServerSideToolInvocations"] = True
    return {"toolConfig": config} if config else {}


def _declaration(tool: ToolSpec, names: ToolNames) -> Json:
    # The older field, ``parameters``, takes a small part of JSON Schema and fails on the rest.
    schema = {key: value for key, value in tool.parameters.items() if key != "$schema"}
    return {"name": names.sent(tool.name), "description": tool.description, "parametersJsonSchema": schema}


class _Contents:
    def __init__(self, request: ModelRequest, provider: str, origin: str, names: ToolNames) -> None:
        self._request = request
        self._provider = provider
        self._origin = origin
        self._names = names
        self._signs = not _ASKS_FOR_NONE.match(request.model.partition(":")[2])
        self._ids = call_ids(request)

    def encoded(self) -> Iterator[Json]:
        """The contents: results of one step together, as Gemini demands, and messages of people in a row as one."""
        last_role, last_parts = "", list[JsonValue]()
        for message in self._request.messages:
            if not (parts := [*self._parts(message)]):
                continue
            if message.role == last_role != "assistant":
                last_parts += parts
                continue
            if last_parts:
                yield _content(last_role, last_parts)
            last_role, last_parts = message.role, parts
        if last_parts:
            yield _content(last_role, last_parts)

    def _parts(self, message: Message) -> Iterator[JsonValue]:
        match message:
            case UserMessage():
                yield from (self._user_part(part) for part in message.parts)
            case AssistantMessage():
                yield from self._assistant(message)
            case ToolMessage():
                yield self._result(message)

    def _user_part(self, part: UserPart) -> Json:
        if isinstance(part, TextPart):
            return {"text": part.text}
        return self._media(part)

    def _media(self, part: ImagePart | AudioPart | FilePart) -> Json:
        if part.data is not None:
            if isinstance(part, FilePart) and is_text(part.media_type):
                return {"text": file_text(part)}
            return {"inlineData": {"mimeType": part.media_type, "data": in_base64(part.data)}}
        if not part.url:
            raise BadRequestError(self._provider, f"the message holds {part.kind} without data and without an address")
        if inline := _DATA_URL.fullmatch(part.url):
            return {"inlineData": {"mimeType": inline[1] or part.media_type, "data": inline[2]}}
        named: Json = {} if part.media_type == _UNKNOWN_TYPE else {"mimeType": part.media_type}
        return {"fileData": {"fileUri": part.url, **named}}

    def _assistant(self, message: AssistantMessage) -> Iterator[Json]:
        own = message.model == self._request.model
        first_call = True
        for part in message.parts if message.finish not in ("interrupted", "length") else _settled(message.parts):
            encoded = self._assistant_part(part, own=own)
            if encoded is None:
                continue
            if part.kind == "call":
                if first_call and self._signs and "thoughtSignature" not in encoded:
                    encoded["thoughtSignature"] = UNSIGNED
                first_call = False
            yield encoded

    def _assistant_part(self, part: AssistantPart, *, own: bool) -> Json | None:
        match part.kind:
            case "text":
                data = self._returned(part.opaque, own=own)
                return {"text": part.text, **data} if part.text or data else None
            case "reasoning":
                data = self._returned(part.opaque, own=own)
                return {"text": part.text, "thought": True, **data} if own and (part.text or data) else None
            case "call":
                return {**self._call(part), **self._returned(part.opaque, own=own)}
            case "hosted":
                if not (own and part.opaque.origin == self._origin):
                    return {"text": f"[{part.tool}] {part.text}".rstrip()}
                kept = part.opaque.data.get("part")
                return dict(kept) if isinstance(kept, dict) else None
            case "image":
                return {**self._media(part), **self._returned(part.opaque, own=own)}
            case "audio" | "file":
                return self._media(part)

    def _returned(self, opaque: Opaque | None, *, own: bool) -> Json:
        return dict(opaque.data) if own and opaque and opaque.origin == self._origin else {}

    def _call(self, call: CallPart) -> Json:
        return {
            "functionCall": {
                "id": self._ids[call.call_id],
                "name": self._names.sent(call.tool),
                "args": arguments_sent(call),
            }
        }

    def _result(self, message: ToolMessage) -> Json:
        return {
            "functionResponse": {
                "id": self._ids.get(message.call_id, message.call_id),
                "name": self._names.sent(message.tool),
                "response": _response(message),
            }
        }


def _settled(parts: tuple[AssistantPart, ...]) -> Iterator[AssistantPart]:
    """The parts without the steps of Google's own that were cut off before their result came."""
    results = Counter(part.tool for part in parts if part.kind == "hosted")
    for part in parts:
        result = _RESULTS.get(part.tool) if part.kind == "hosted" else None
        if result:
            results[result] -= 1
        if result is None or results[result] >= 0:
            yield part


def _content(role: str, parts: list[JsonValue]) -> Json:
    return {"role": "model" if role == "assistant" else "user", "parts": parts}


def _response(message: ToolMessage) -> Json:
    """A result as the object that Gemini demands: ``output`` and ``error`` are the keys that it knows."""
    if message.status != "ok":
        return {"error": message.text or json.dumps(message.data)}
    if message.text or message.data is None:
        return {"output": message.text}
    return message.data if isinstance(message.data, dict) else {"output": message.data}
