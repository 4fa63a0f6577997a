"""A model request of ours as a request of OpenAI's Responses protocol.

Nothing is stored at the provider: the whole conversation goes along each time, with the items that the model made just
as it made them. What another model made goes as plain text and calls; what it thought, or did by itself, stays away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import assert_never

from pydantic import JsonValue

from perdure.contracts.attachments import is_text
from perdure.contracts.errors import BadRequestError
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    AudioPart,
    FilePart,
    ImagePart,
    Opaque,
    TextPart,
    ToolMessage,
    UserMessage,
)
from perdure.contracts.prompts import ModelRequest
from perdure.providers.chat_encoding import cache_key_sent
from perdure.providers.dialects import Dialect
from perdure.providers.encoding import arguments_text, call_ids, data_url, file_text, result_text
from perdure.providers.hosted_tools import Keys, for_responses
from perdure.providers.lenient import Json, an_object
from perdure.providers.openai_responses_items import call_item, hosted_item, message_item, reasoning_item
from perdure.providers.schemas import for_openai
from perdure.providers.tool_names import ToolNames

_REASONS = re.compile(r"(?:[\w.-]+/)?(?:gpt-(?:[5-9]|[1-9]\d)(?!.*-chat)|o\d|codex|computer-use)", re.IGNORECASE)


def encode(
    request: ModelRequest, dialect: Dialect, *, provider: str, origin: str, names: ToolNames, keys: Keys | None = None
) -> Json:
    """The body of a streaming request; ``origin`` is whose opaque data may go along, ``keys`` are of MCP servers.

    Raises BadRequestError for a part that the protocol cannot carry.
    """
    model = request.model.partition(":")[2]
    body: Json = {
        "model": model,
        "input": list(_Input(request, provider, origin, names).encoded()),
        "stream": True,
        "store": False,
    }
    if request.system:
        body["instructions"] = request.system
    if dialect.encrypted_reasoning == "always" or (dialect.encrypted_reasoning == "by_name" and _REASONS.match(model)):
        body["include"] = ["reasoning.encrypted_content"]
    if request.tools or request.hosted:
        hosted = (for_responses(tool, keys or {}) for tool in request.hosted)
        body["tools"] = [*_functions(request, names), *hosted]
    if request.must_call:
        body["tool_choice"] = "required"
    if request.output_schema is not None and (schema := for_openai(request.output_schema)):
        body["text"] = {"format": {"type": "json_schema", **schema}}
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if dialect.cache_key and request.cache_key:
        body["prompt_cache_key"] = cache_key_sent(request.cache_key)
    return body


def _functions(request: ModelRequest, names: ToolNames) -> Iterator[Json]:
    for tool in request.tools:
        yield {
            "type": "function",
            "name": names.sent(tool.name),
            "description": tool.description,
            "parameters": tool.parameters,
            # This protocol is strict unless it is told otherwise, and strict schemas are few.
            "strict": False,
        }


class _Input:
    def __init__(self, request: ModelRequest, provider: str, origin: str, names: ToolNames) -> None:
        self._request = request
        self._provider = provider
        self._origin = origin
        self._names = names
        self._ids = call_ids(request)

    def encoded(self) -> Iterator[Json]:
        for message in self._request.messages:
            match message:
                case UserMessage():
                    yield {"role": "user", "content": self._user(message)}
                case AssistantMessage():
                    yield from self._assistant(message)
                case ToolMessage():
                    yield {
                        "type": "function_call_output",
                        "call_id": self._ids.get(message.call_id, message.call_id),
                        "output": result_text(message),
                    }

    def _user(self, message: UserMessage) -> JsonValue:
        parts: list[JsonValue] = [self._user_part(part) for part in message.parts]
        match parts:
            case []:
                return ""
            case [{"type": "input_text", "text": text}]:
                return text
            case _:
                return parts

    def _user_part(self, part: TextPart | ImagePart | AudioPart | FilePart) -> Json:
        match part:
            case TextPart():
                return {"type": "input_text", "text": part.text}
            case ImagePart():
                address = part.url or data_url(part.media_type, part.data)
                return {"type": "input_image", "image_url": address, "detail": "auto"}
            case AudioPart():
                raise BadRequestError(
                    self._provider, f"this protocol takes no audio, and a message holds {part.media_type}"
                )
            case FilePart(url=str(url)):
                return {"type": "input_file", "file_url": url}
            case FilePart() if is_text(part.media_type):
                return {"type": "input_text", "text": file_text(part)}
            case FilePart():
                return {
                    "type": "input_file",
                    "filename": part.name or "file",
                    "file_data": data_url(part.media_type, part.data),
                }

    def _assistant(self, message: AssistantMessage) -> Iterator[Json]:
        own = message.model == self._request.model
        items: list[Json] = []
        whole = True
        for item_id, parts in groupby(message.parts, lambda part: self._message_id(part) if own else None):
            for encoded in self._items(list(parts), item_id, own=own):
                whole = whole and bool(encoded)
                items.append(encoded)
        items = [item for item in items if item]
        # Reasoning that nothing follows is refused, and so are ids of items whose reasoning is not there.
        while items and items[-1].get("type") == "reasoning":
            items.pop()
        yield from items if whole else ({key: item[key] for key in item if key != "id"} for item in items)

    def _items(self, parts: list[AssistantPart], item_id: str | None, *, own: bool) -> Iterator[Json]:
        """The items of parts that belong together; {} for reasoning of ours that cannot go back."""
        if item_id is not None:
            texts = [(part, opaque) for part in parts if part.kind == "text" and (opaque := self._ours(part.opaque))]
            yield message_item(texts)
            return
        for part in parts:
            match part.kind:
                case "text":
                    if part.text:
                        yield {"role": "assistant", "content": part.text}
                case "reasoning":
                    if own and (opaque := self._ours(part.opaque)):
                        yield reasoning_item(part, opaque)
                case "call":
                    yield call_item(
                        part,
                        self._ours(part.opaque) if own else None,
                        call_id=self._ids[part.call_id],
                        name=self._names.sent(part.tool),
                        arguments=arguments_text(part),
                    )
                case "hosted":
                    if own and self._ours(part.opaque):
                        yield hosted_item(part)
                case "image" | "audio" | "file":
                    yield {"role": "assistant", "content": f"[{part.kind}]"}
                case _:
                    assert_never(part.kind)

    def _message_id(self, part: AssistantPart) -> str | None:
        """The id of the message item that a text part was a piece of; "" when it had none, None when there is none."""
        opaque = self._ours(part.opaque) if part.kind == "text" else None
        return str(an_object(opaque.data.get("item")).get("id") or "") if opaque else None

    def _ours(self, opaque: Opaque | None) -> Opaque | None:
        return opaque if opaque and opaque.origin == self._origin else None
