"""Recorded requests of the Responses protocol, read as conversations of ours.

Items that an earlier reply of the same recording holds are that reply, decoded: what the adapter made of it has to be
what goes back. Any others were made by another model or written by hand, and are taken for foreign.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    CallPart,
    FilePart,
    HostedPart,
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

Item = dict[str, Any]

NO_MESSAGE = ("additional_tools", "tool_search_output")
"""Items that a client adds and that no message of ours is."""


class Conversation:
    """The requests of one recording, in order; ``said`` are the replies so far, decoded."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self.said: list[AssistantMessage] = []
        self.replayed = 0
        self._ids: dict[str, str] = {}

    def request(self, recorded: Item) -> ModelRequest:
        """The recorded request as one of ours."""
        items = recorded["input"]
        system = [item["content"] for item in items if item.get("role") == "system"]
        return ModelRequest(
            model=f"{self._provider}:{recorded['model']}",
            system="\n\n".join(text for text in (recorded.get("instructions"), *system) if text),
            messages=tuple(self._messages([item for item in items if item.get("role") != "system"])),
            tools=tuple(
                ToolSpec(name=tool["name"], description=tool["description"] or "", parameters=tool["parameters"])
                for tool in recorded.get("tools", ())
                if tool["type"] == "function"
            ),
        )

    def _messages(self, items: list[Item]) -> Iterator[Message]:
        for number, (speaker, group) in enumerate(groupby(items, _speaker)):
            match speaker:
                case "user":
                    for place, item in enumerate(group):
                        yield UserMessage(message_id=f"u{number}{place}", parts=tuple(_user_parts(item["content"])))
                case "tool":
                    yield from map(self._result, group)
                case "assistant":
                    yield self._assistant(f"t{number}s1", [*group])
                case _:
                    pass

    def _assistant(self, message_id: str, items: list[Item]) -> AssistantMessage:
        answer = next((answer for answer in self.said if _signs(answer) == _item_signs(items)), None)
        if answer:
            self.replayed += 1
        else:
            made = [_foreign(f"{message_id}c{number}", item) for number, item in enumerate(items, 1)]
            answer = AssistantMessage(message_id=message_id, parts=tuple(made), model="other:model")
        self._ids.update({call.provider_call_id: call.call_id for call in answer.calls})
        return answer

    def _result(self, item: Item) -> ToolMessage:
        call_id = self._ids.get(item["call_id"], item["call_id"])
        output = item["output"]
        values: Item = {"text": output} if isinstance(output, str) else {"data": output}
        return ToolMessage(message_id=f"{call_id}r", call_id=call_id, tool="", **values)


def _speaker(item: Item) -> str:
    if item.get("type") in NO_MESSAGE:
        return "nobody"
    if item.get("type") == "function_call_output":
        return "tool"
    return "user" if item.get("role") == "user" else "assistant"


def _user_parts(content: Any) -> Iterator[UserPart]:
    for part in [{"type": "input_text", "text": content}] if isinstance(content, str) else content:
        match part["type"]:
            case "input_text":
                yield TextPart(text=part["text"])
            case "input_image" if part["image_url"].startswith("data:"):
                yield ImagePart(**_data(part["image_url"]))
            case "input_image":
                yield ImagePart(url=part["image_url"])
            case "input_file":
                yield FilePart(name=part["filename"], **_data(part["file_data"]))
            case kind:
                raise AssertionError(f"there is no reading of {kind}")


def _data(url: str) -> Item:
    media_type, data = url.removeprefix("data:").split(";base64,")
    return {"media_type": media_type, "data": base64.b64decode(data)}


def _foreign(call_id: str, item: Item) -> AssistantPart:
    if item.get("type") == "function_call":
        arguments = json.loads(item["arguments"])
        # Our own id goes to a provider that did not make the call: the recorded one takes its place here.
        return CallPart(
            call_id=item["call_id"], tool=item["name"], arguments_text=item["arguments"], arguments=arguments
        )
    if item.get("role") == "assistant" and isinstance(item["content"], str):
        return TextPart(text=item["content"])
    return HostedPart(tool=item["type"], opaque=Opaque(origin="other", data={"item": item}))


def _signs(message: AssistantMessage) -> tuple[Any, ...]:
    hosted: list[Any] = [part.opaque.data["item"] for part in message.parts if part.kind == "hosted"]
    searches = [item["call_id"] or item["id"] for item in hosted if item["type"] == "tool_search_call"]
    return message.text, [call.provider_call_id for call in message.calls], searches


def _item_signs(items: list[Item]) -> tuple[Any, ...]:
    texts = [item["content"] for item in items if item.get("role") == "assistant"]
    said = [text if isinstance(text, str) else "".join(part["text"] for part in text) for text in texts]
    return (
        "".join(said),
        [item["call_id"] for item in items if item.get("type") == "function_call"],
        [item["call_id"] for item in items if item.get("type") == "tool_search_call"],
    )
