"""Recorded requests of the chat protocol, read as conversations of ours.

An assistant message that an earlier reply of the same recording holds is that reply, decoded: what the adapter made of
it has to be what goes back. Any other was made by another model or written by hand, and is taken for foreign.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    AudioPart,
    CallPart,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec

Json = dict[str, Any]

NO_PART = ("document_url", "video_url")
"""Parts of a user message that no part of ours is."""


class Conversation:
    """The requests of one recording, in order; ``said`` are the replies so far, decoded."""

    def __init__(self, provider: str) -> None:
        self.said: list[AssistantMessage] = []
        self.replayed = 0
        self._provider = provider
        self._ids: dict[str, str] = {}

    def request(self, recorded: Json) -> ModelRequest:
        """The recorded request as one of ours."""
        messages = recorded["messages"]
        system = [text_of(message["content"]) for message in messages if message["role"] in ("system", "developer")]
        return ModelRequest(
            model=f"{self._provider}:{recorded['model']}",
            system="\n\n".join(system),
            messages=tuple(self._messages(messages)),
            tools=tuple(
                ToolSpec(
                    name=tool["function"]["name"],
                    description=tool["function"]["description"] or "",
                    parameters=tool["function"]["parameters"],
                )
                for tool in recorded.get("tools") or ()
                if "function" in tool
            ),
        )

    def _messages(self, messages: list[Json]) -> Iterator[Message]:
        for number, message in enumerate(messages):
            match message["role"]:
                case "user":
                    if parts := tuple(_user_parts(message["content"])):
                        yield UserMessage(message_id=f"u{number}", parts=parts)
                case "assistant":
                    yield self._assistant(f"t{number}s1", message)
                case "tool":
                    call_id = self._ids.get(message["tool_call_id"], message["tool_call_id"])
                    text = text_of(message["content"])
                    yield ToolMessage(message_id=f"{call_id}r", call_id=call_id, tool="", text=text)
                case _:
                    pass

    def _assistant(self, message_id: str, message: Json) -> AssistantMessage:
        text, calls = text_of(message.get("content")), message.get("tool_calls") or []
        ids = [call["id"] for call in calls]
        for answer in self.said:
            if answer.text == text and [call.provider_call_id for call in answer.calls] == ids:
                self.replayed += 1
                break
        else:
            made: list[AssistantPart] = [TextPart(text=text)] if text else []
            # Our own id goes to a provider that did not make the call: the recorded one takes its place here.
            answer = AssistantMessage(
                message_id=message_id, parts=(*made, *map(_foreign_call, calls)), model="other:model"
            )
        self._ids.update({call.provider_call_id: call.call_id for call in answer.calls})
        return answer


def text_of(content: Any) -> str:
    """The text of a message's content, whichever form it has."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    return "".join(part["text"] for part in parts if part["type"] == "text")


def _foreign_call(call: Json) -> CallPart:
    function = call["function"]
    return CallPart(
        call_id=call["id"],
        tool=function["name"],
        arguments_text=function["arguments"],
        arguments=json.loads(function["arguments"]),
    )


def _user_parts(content: Any) -> Iterator[UserPart]:
    parts: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts:
        match part["type"]:
            case "text":
                yield TextPart(text=part["text"])
            case "image_url":
                yield ImagePart(url=part["image_url"]["url"])
            case "input_audio":
                audio = part["input_audio"]
                media_type = {"mp3": "audio/mpeg", "wav": "audio/wav"}[audio["format"]]
                yield AudioPart(media_type=media_type, data=base64.b64decode(audio["data"]))
            case "file" if "file_data" in part["file"]:
                media_type, data = part["file"]["file_data"].removeprefix("data:").split(";base64,")
                yield FilePart(name=part["file"]["filename"], media_type=media_type, data=base64.b64decode(data))
            case "file":
                pass
            case kind if kind in NO_PART:
                pass
            case kind:
                raise AssertionError(f"there is no reading of {kind}")
