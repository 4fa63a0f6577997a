"""Recorded requests to Gemini as requests of ours.

A turn of the model that an earlier reply of the same recording holds is that reply, decoded: what the adapter made of
it has to be what goes back. Any other turn was made by another model or written by hand, and is taken for foreign.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    AudioPart,
    CallPart,
    FilePart,
    HostedPart,
    ImagePart,
    Message,
    Opaque,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec

Json = dict[str, Any]

SNAKES = {
    "parameters_json_schema": "parametersJsonSchema",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "mime_type": "mimeType",
    "tool_type": "toolType",
}
"""Google's JSON takes either spelling of a field; the other one is documented."""


class Conversation:
    """The requests of one recording, in order; ``said`` are the replies so far, decoded."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.said: list[AssistantMessage] = []

    def request(self, recorded: Json) -> ModelRequest:
        """The recorded request as one of ours."""
        body = camel_case(recorded)
        self._ids: dict[str, str] = {}
        self._pending: list[CallPart] = []
        messages: list[Message] = []
        for number, content in enumerate(body["contents"]):
            if content["role"] == "model":
                messages.append(self._assistant(f"t{number}s1", content["parts"]))
                self._pending = [*messages[-1].calls] if messages[-1].role == "assistant" else []
            else:
                messages.extend(self._user(f"u{number}", content["parts"]))
        return ModelRequest(
            model=self.model,
            system="".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", ())),
            messages=tuple(messages),
            tools=tuple(
                ToolSpec(
                    name=declared["name"],
                    description=declared["description"],
                    parameters=declared.get("parametersJsonSchema") or lower_types(declared["parameters"]),
                )
                for declared in declarations(body)
            ),
        )

    def _assistant(self, message_id: str, parts: list[Json]) -> AssistantMessage:
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        message = self._remembered(parts, calls)
        if message is None:
            made = [_foreign(f"{message_id}c{number}", part) for number, part in enumerate(parts, 1)]
            message = AssistantMessage(message_id=message_id, parts=tuple(made), model="other:model")
        for call, part in zip(calls, message.calls, strict=True):
            if "id" in call:
                self._ids[call["id"]] = part.call_id
        return message

    def _remembered(self, parts: list[Json], calls: list[Json]) -> AssistantMessage | None:
        text = "".join(part["text"] for part in parts if "text" in part and not part.get("thought"))
        for message in self.said:
            same = [(call.tool, call.arguments) for call in message.calls] == [(c["name"], c["args"]) for c in calls]
            if same and message.text == text:
                return message
        return None

    def _user(self, message_id: str, parts: list[Json]) -> Iterator[Message]:
        others = [part for part in parts if "functionResponse" not in part]
        for part in parts:
            if "functionResponse" in part:
                yield self._result(part["functionResponse"])
        if others:
            yield UserMessage(message_id=message_id, parts=tuple(map(_user_part, others)))

    def _result(self, answered: Json) -> ToolMessage:
        call_id = self._ids.get(answered.get("id", "")) or self._pending.pop(0).call_id
        response = answered["response"]
        values: Json = {"data": response}
        for key in ("output", "return_value"):
            if list(response) == [key] and isinstance(response[key], str):
                values = {"text": response[key]}
        if list(response) == ["error"]:
            values = {"status": "error", "text": response["error"]}
        return ToolMessage(message_id=f"{call_id}r", call_id=call_id, tool=answered["name"], **values)


def declarations(body: Json) -> list[Json]:
    return [declared for tool in body.get("tools", ()) for declared in tool.get("functionDeclarations", ())]


def _foreign(call_id: str, part: Json) -> AssistantPart:
    if "functionCall" in part:
        call = part["functionCall"]
        return CallPart(call_id=call_id, tool=call["name"], arguments=call["args"], provider_call_id=call.get("id", ""))
    if "text" in part:
        return ReasoningPart(text=part["text"]) if part.get("thought") else TextPart(text=part["text"])
    kind = next(name for name in part if name != "thoughtSignature")
    return HostedPart(tool=kind, opaque=Opaque(origin="other", data={"part": part}))


def _user_part(part: Json) -> UserPart:
    if "text" in part:
        return TextPart(text=part["text"])
    content = part.get("inlineData") or part["fileData"]
    media_type = content["mimeType"]
    values: Json = {"media_type": media_type, "url": content.get("fileUri")}
    if "data" in content:
        try:
            values["data"] = base64.urlsafe_b64decode(content["data"].replace("+", "-").replace("/", "_"))
        except ValueError:  # The recorder took a run of letters for a key and struck it out.
            values["url"] = f"data:{media_type};base64,{content['data']}"
    kinds: dict[str, Callable[..., UserPart]] = {"image": ImagePart, "audio": AudioPart}
    return kinds.get(media_type.partition("/")[0], FilePart)(**values)


def lower_types(schema: Any) -> Any:
    """A schema of Google's own form as JSON Schema, which writes types in lower case."""
    if isinstance(schema, dict):
        return {
            key: value.lower() if key == "type" and isinstance(value, str) else lower_types(value)
            for key, value in schema.items()
        }
    return [lower_types(item) for item in schema] if isinstance(schema, list) else schema


def camel_case(value: Any) -> Any:
    """A recorded value with the documented spelling of each field."""
    if isinstance(value, dict):
        return {SNAKES.get(key, key): camel_case(item) for key, item in value.items()}
    return [camel_case(item) for item in value] if isinstance(value, list) else value
