"""Messages and their typed parts: the one shape in which a conversation is kept, shown and rendered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from perdure.contracts.record import Record
from perdure.contracts.usage import Cost, Usage


class Opaque(Record):
    """Provider data that must return byte-identical (signatures, encrypted reasoning, ids), and only to its maker.

    ``origin`` names the provider and endpoint that made it (``anthropic``, ``openai-chat:api.deepseek.com``); a request
    to any other origin leaves the data out.
    """

    origin: str
    data: dict[str, JsonValue] = {}


class TextPart(Record):
    kind: Literal["text"] = "text"
    text: str
    opaque: Opaque | None = None


class ReasoningPart(Record):
    """What the model thought. ``text`` may be empty when the provider shows only a signature."""

    kind: Literal["reasoning"] = "reasoning"
    text: str = ""
    opaque: Opaque | None = None


class CallPart(Record):
    """A tool call that the model asked for.

    ``arguments_text`` is what the model wrote, to the byte; ``arguments`` is its decoded object, or None when the text
    is not a JSON object. ``provider_call_id`` is the provider's own id, empty when it sent none.
    """

    kind: Literal["call"] = "call"
    call_id: str
    tool: str
    arguments_text: str = "{}"
    arguments: dict[str, JsonValue] | None = {}
    provider_call_id: str = ""
    opaque: Opaque | None = None


class ImagePart(Record):
    """An image, by ``url`` or as ``data`` (base64 in JSON). ``opaque`` came beside one that a model made."""

    kind: Literal["image"] = "image"
    media_type: str = "image/png"
    url: str | None = None
    data: bytes | None = None
    opaque: Opaque | None = None


class AudioPart(Record):
    """Audio, by ``url`` or as ``data`` (base64 in JSON)."""

    kind: Literal["audio"] = "audio"
    media_type: str = "audio/wav"
    url: str | None = None
    data: bytes | None = None


class FilePart(Record):
    """Any other attachment, by ``url`` or as ``data`` (base64 in JSON)."""

    kind: Literal["file"] = "file"
    media_type: str = "application/octet-stream"
    name: str = ""
    url: str | None = None
    data: bytes | None = None


class HostedPart(Record):
    """What the provider did, or said, by itself: a tool that it ran, or a block of a kind that is not known here.

    ``tool`` is the provider's word for it (``web_search_call``), ``name`` the tool within it where there is one, and
    ``text`` what a person may read of it. ``opaque`` holds the block as it came, which is how it goes back.
    """

    kind: Literal["hosted"] = "hosted"
    tool: str
    name: str = ""
    opaque: Opaque
    text: str = ""


AssistantPart = Annotated[
    TextPart | ReasoningPart | CallPart | HostedPart | ImagePart | AudioPart | FilePart, Field(discriminator="kind")
]
UserPart = Annotated[TextPart | ImagePart | AudioPart | FilePart, Field(discriminator="kind")]

FinishReason = Literal["stop", "length", "calls", "refused", "interrupted"]
"""Why a model stopped: by itself, cut at a length, to have calls run, refused or filtered, or we stopped it."""

ResultStatus = Literal["ok", "error", "denied", "invalid", "interrupted", "unknown", "unavailable"]
"""How a call settled. ``error``: the tool failed. ``denied``: authority or a human said no. ``invalid``: there is no
such tool, or the arguments are bad. ``interrupted``: stopped before it ended. ``unknown``: it started, and nobody knows
whether it took effect. ``unavailable``: the tool is frozen into the run but no worker serves it."""


class UserMessage(Record):
    """What a person (or another system) told the run. ``client_key`` is the sender's own key for this message.

    ``reply_to`` is the message of the run that it answers, if it said so.
    """

    role: Literal["user"] = "user"
    message_id: str
    parts: tuple[UserPart, ...]
    sender: str = ""
    client_key: str = ""
    reply_to: str = ""


class AssistantMessage(Record):
    """What one model call answered, parts in the order in which the model gave them.

    ``attempt`` is the attempt of the model call that made it, counted from 1. ``finish`` is ``interrupted`` when a
    human stopped the call: the parts are then all that had come, and calls among them never run.
    """

    role: Literal["assistant"] = "assistant"
    message_id: str
    parts: tuple[AssistantPart, ...]
    model: str
    finish: FinishReason = "stop"
    usage: Usage = Usage()
    cost: Cost = Cost()
    attempt: int = 1
    provider_message_id: str = ""

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if part.kind == "text")

    @property
    def calls(self) -> tuple[CallPart, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if part.kind == "call")


class ToolMessage(Record):
    """The one result of one call. ``text`` is what the model reads.

    ``ran_with`` are the arguments that the call ran with, where a human changed them.
    """

    role: Literal["tool"] = "tool"
    message_id: str
    call_id: str
    tool: str
    status: ResultStatus = "ok"
    text: str = ""
    data: JsonValue = None
    ran_with: dict[str, JsonValue] | None = None


Message = Annotated[UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]
