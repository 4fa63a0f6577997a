"""The one stream that every provider speaks, and the assembler that makes one message of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, assert_never

from pydantic import JsonValue

from perdure.contracts.decode import decode
from perdure.contracts.ids import call_id
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    CallPart,
    FinishReason,
    HostedPart,
    ImagePart,
    Opaque,
    ReasoningPart,
    TextPart,
)
from perdure.contracts.usage import Cost, Usage
from perdure.providers.prices import cost_of


@dataclass(frozen=True, slots=True)
class StartPiece:
    """The provider's own id of the message that follows."""

    provider_message_id: str


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Text of the answer. With ``opaque`` the part ends here: signed text never merges with what follows.

    With ``apart`` a part begins here, for protocols whose signature covers this text alone.
    """

    text: str
    opaque: Opaque | None = None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """What the model thought. With ``opaque`` the part ends here, with ``apart`` one begins."""

    text: str
    opaque: Opaque | None = None
    apart: bool = False


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of the tool call ``index``: the first ``id`` and ``name`` that are not empty count, arguments add up."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    opaque: Opaque | None = None


@dataclass(frozen=True, slots=True)
class OpaquePiece:
    """Provider data for the last part of its kind, which then ends; an empty part is made when there is none."""

    opaque: Opaque
    part: Literal["text", "reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class HostedPiece:
    """What the provider did by itself, whole: see `HostedPart`."""

    tool: str
    opaque: Opaque
    name: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class ImagePiece:
    """An image that the model made, whole."""

    part: ImagePart


@dataclass(frozen=True, slots=True)
class UsagePiece:
    """What the call consumed so far; a later piece replaces an earlier one. ``cost`` is the provider's own word."""

    usage: Usage
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class FinishPiece:
    """Why the model stopped; ``raw`` is the provider's own word. Usage may still follow."""

    reason: FinishReason
    raw: str = ""


Piece = (
    StartPiece
    | TextPiece
    | ReasoningPiece
    | CallPiece
    | OpaquePiece
    | HostedPiece
    | ImagePiece
    | UsagePiece
    | FinishPiece
)


@dataclass(slots=True)
class _Prose:
    kind: Literal["text", "reasoning"]
    pieces: list[str]
    opaque: Opaque | None = None

    def part(self) -> TextPart | ReasoningPart:
        text = "".join(self.pieces)
        if self.kind == "text":
            return TextPart(text=text, opaque=self.opaque)
        return ReasoningPart(text=text, opaque=self.opaque)


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    opaque: Opaque | None = None


@dataclass(slots=True)
class _Channel:
    """Text that is read often while it grows: joined at each read, so that a read costs what came since the last."""

    pieces: list[str] = field(default_factory=list)

    def read(self) -> str:
        self.pieces = ["".join(self.pieces)]
        return self.pieces[0]


class Assembler:
    """Makes one message of a stream's pieces. Nothing is lost: parts keep the order in which they began."""

    def __init__(self, message_id: str, model: str, attempt: int = 1) -> None:
        """``model`` is ``provider:model``; ``attempt`` is the attempt of the model call, counted from 1."""
        self.message_id = message_id
        self.model = model
        self.attempt = attempt
        self.finish: FinishReason | None = None
        self._parts: list[_Prose | _Call | HostedPart | ImagePart] = []
        self._calls: dict[int, _Call] = {}
        self._text = _Channel()
        self._reasoning = _Channel()
        self._usage: Usage | None = None
        self._cost: Cost | None = None
        self._provider_message_id = ""

    @property
    def text(self) -> str:
        """The text so far, as `AssistantMessage.text` will have it."""
        return self._text.read()

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return self._reasoning.read()

    @property
    def usage(self) -> Usage:
        """What this attempt consumed, as far as the provider has said; one request at least."""
        usage = self._usage or Usage()
        whole = self._usage is not None and self.finish is not None
        return usage.model_copy(update={"requests": max(usage.requests, 1), "incomplete": 0 if whole else 1})

    @property
    def cost(self) -> Cost:
        """What this attempt cost; unpriced when neither the provider nor the price list says."""
        return self._cost or cost_of(self.model, self._usage)

    def add(self, piece: Piece) -> None:
        """Take in the next piece."""
        match piece:
            case StartPiece():
                self._provider_message_id = self._provider_message_id or piece.provider_message_id
            case TextPiece():
                self._text.pieces.append(piece.text)
                self._prose("text", piece)
            case ReasoningPiece():
                self._reasoning.pieces.append(piece.text)
                self._prose("reasoning", piece)
            case CallPiece():
                self._call(piece)
            case OpaquePiece():
                self._seal(piece)
            case HostedPiece():
                self._parts.append(HostedPart(tool=piece.tool, name=piece.name, text=piece.text, opaque=piece.opaque))
            case ImagePiece():
                self._parts.append(piece.part)
            case UsagePiece():
                self._usage, self._cost = piece.usage, piece.cost or self._cost
            case FinishPiece():
                self.finish = piece.reason
            case _:
                assert_never(piece)

    def message(self, finish: FinishReason | None = None) -> AssistantMessage:
        """The message so far. ``finish`` overrides what the provider said: ``interrupted`` when we stopped the call.

        A call whose name had not come yet is left out: it could be neither shown nor answered.
        """
        parts: list[AssistantPart] = []
        position = 0
        for part in self._parts:
            if isinstance(part, _Prose):
                parts.append(part.part())
            elif isinstance(part, HostedPart | ImagePart):
                parts.append(part)
            elif part.name:
                position += 1
                parts.append(_call_part(call_id(self.message_id, position), part))
        return AssistantMessage(
            message_id=self.message_id,
            parts=tuple(parts),
            model=self.model,
            finish=finish or self.finish or "stop",
            usage=self.usage,
            cost=self.cost,
            attempt=self.attempt,
            provider_message_id=self._provider_message_id,
        )

    def _prose(self, kind: Literal["text", "reasoning"], piece: TextPiece | ReasoningPiece) -> None:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, _Prose) and last.kind == kind and last.opaque is None and not piece.apart:
            last.pieces.append(piece.text)
            last.opaque = piece.opaque
        elif piece.text or piece.opaque:
            self._parts.append(_Prose(kind, [piece.text], piece.opaque))

    def _call(self, piece: CallPiece) -> None:
        call = self._calls.get(piece.index)
        if call is None:
            call = self._calls[piece.index] = _Call()
            self._parts.append(call)
        call.id = call.id or piece.id
        call.name = call.name or piece.name
        call.opaque = call.opaque or piece.opaque
        call.arguments.append(piece.arguments)

    def _seal(self, piece: OpaquePiece) -> None:
        for part in reversed(self._parts):
            if isinstance(part, _Prose) and part.kind == piece.part and part.opaque is None:
                part.opaque = piece.opaque
                return
        self._parts.append(_Prose(piece.part, [], piece.opaque))


def _call_part(our_id: str, call: _Call) -> CallPart:
    text = "".join(call.arguments)
    return CallPart(
        call_id=our_id,
        tool=call.name,
        arguments_text=text,
        arguments=_decoded(text),
        provider_call_id=call.id,
        opaque=call.opaque,
    )


def _decoded(text: str) -> dict[str, JsonValue] | None:
    """The arguments that ``text`` holds; no text at all means no arguments, which many servers write that way."""
    if not text.strip():
        return {}
    try:
        value = decode(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
