"""Recorded requests of Anthropic's protocol, read as conversations of ours."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any

from perdure.contracts.messages import (
    AssistantMessage,
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
from perdure.providers.anthropic_decoding import MessagesDecoder
from perdure.providers.anthropic_usage import Tally
from perdure.providers.http import Reply
from perdure.providers.payloads import Payload
from perdure.providers.stream import Assembler

ORIGIN = "anthropic:api.anthropic.com"

Block = dict[str, Any]


def decoded_reply(reply: Reply, values: Iterable[Any], model: str, message_id: str) -> AssistantMessage:
    """The message of a reply whose JSON values are these."""
    decoder = MessagesDecoder(ORIGIN, Tally(model))
    assembler = Assembler(message_id, model)
    decoder.begin(reply)
    for value in values:
        for piece in decoder.feed(Payload("", value)):
            assembler.add(piece)
    for piece in (*decoder.end(), *decoder.finish()):
        assembler.add(piece)
    return assembler.message()


class Conversation:
    """One recorded request. ``answers`` are the replies that were recorded before it, decoded."""

    def __init__(self, recorded: Block, reply: Reply, answers: Iterable[AssistantMessage]) -> None:
        self._recorded = recorded
        self._reply = reply
        self._answers = [*answers]
        self._model = f"anthropic:{recorded['model']}"
        self._ids: dict[str, str] = {}
        self.replayed = 0
        """How many of its assistant messages are recorded replies, as we decoded them."""

    def request(self) -> ModelRequest:
        """The conversation as a request of ours."""
        system = self._recorded.get("system") or ""
        if not isinstance(system, str):
            system = "\n\n".join(block["text"] for block in system)
        return ModelRequest(
            model=self._model,
            system=system,
            messages=tuple(self._messages()),
            tools=tuple(
                ToolSpec(name=tool["name"], description=tool.get("description") or "", parameters=tool["input_schema"])
                for tool in self._recorded.get("tools", [])
                if tool.get("type", "custom") == "custom"
            ),
            max_output_tokens=self._recorded.get("max_tokens"),
        )

    def _messages(self) -> Iterator[Message]:
        for number, message in enumerate(self._recorded["messages"], start=1):
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if message["role"] == "assistant":
                yield self._assistant(blocks, f"t{number}s1")
            else:
                yield from self._user(blocks, f"u{number}")

    def _assistant(self, blocks: list[Block], message_id: str) -> AssistantMessage:
        answer = next((answer for answer in self._answers if _signs(answer) == _block_signs(blocks)), None)
        if answer:
            self._answers.remove(answer)
            self.replayed += 1
        else:
            whole = {"type": "message", "content": blocks, "stop_reason": "end_turn", "usage": {}}
            answer = decoded_reply(self._reply, [whole], self._model, message_id)
        self._ids.update({call.provider_call_id: call.call_id for call in answer.calls})
        return answer

    def _user(self, blocks: list[Block], message_id: str) -> Iterator[Message]:
        parts = [part for block in blocks if (part := _user_part(block))]
        for block in blocks:
            if block["type"] == "tool_result":
                yield self._result(block)
        if parts:
            yield UserMessage(message_id=message_id, parts=tuple(parts))

    def _result(self, block: Block) -> ToolMessage:
        content = block.get("content") or []
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        textual = all(part["type"] == "text" for part in parts)
        call_id = self._ids.get(block["tool_use_id"], block["tool_use_id"])
        return ToolMessage(
            message_id=f"{call_id}r",
            call_id=call_id,
            tool="",
            status="error" if block.get("is_error") else "ok",
            text="".join(part["text"] for part in parts) if textual else "",
            data=None if textual else parts,
        )


def _user_part(block: Block) -> UserPart | None:
    match block["type"]:
        case "text":
            return TextPart(text=block["text"])
        case "image" if block["source"].get("type") == "url":
            return ImagePart(url=block["source"]["url"])
        case "image" if block["source"].get("type") == "base64":
            return ImagePart(**_data(block["source"]))
        case "document" if block["source"]["type"] == "url":
            return FilePart(media_type="application/pdf", url=block["source"]["url"])
        case "document" if block["source"]["type"] == "base64":
            return FilePart(**_data(block["source"]))
        case "document" if block["source"]["type"] == "text":
            return FilePart(media_type="text/plain", data=block["source"]["data"].encode())
        case _:
            return None


def _data(source: Block) -> Block:
    return {"media_type": source["media_type"], "data": base64.b64decode(source["data"])}


def _signs(message: AssistantMessage) -> str:
    return json.dumps([message.text.strip(), [call.provider_call_id for call in message.calls]])


def _block_signs(blocks: list[Block]) -> str:
    text = "".join(block["text"] for block in blocks if block["type"] == "text").strip()
    return json.dumps([text, [block["id"] for block in blocks if block["type"] == "tool_use"]])
