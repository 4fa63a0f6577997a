"""Live: what a model call has so far, bounded, for those who watch and for the attempt that may follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from pydantic import ValidationError
from pydantic_core import to_json

from perdure.activities.fallbacks import Standing
from perdure.activities.setbacks import Setback, may_cost
from perdure.contracts.activities import LiveText, ModelCall
from perdure.contracts.messages import AssistantMessage, FinishReason
from perdure.contracts.usage import Bill, Cost, Usage
from perdure.providers.completion import used_up
from perdure.providers.stream import (
    Assembler,
    CallPiece,
    FinishPiece,
    HostedPiece,
    ImagePiece,
    OpaquePiece,
    Piece,
    ReasoningPiece,
    StartPiece,
    TextPiece,
    UsagePiece,
)

TEXT_BYTES = 64 * 1024
REASONING_BYTES = 48 * 1024
"""Together with the rest these stay below 128 KiB, from where on payloads would be stored outside, once per beat."""


class Window:
    """The newest part of a growing text, at most ``limit`` bytes of it as JSON.

    When it is full its older half leaves at once, so that its start stays where it is for long: a reader that knows a
    start sees text being added and nothing else.
    """

    def __init__(self, limit: int) -> None:
        self.text = ""
        self.offset = 0
        self._limit = limit
        self._size = 0

    def add(self, piece: str) -> None:
        """Append ``piece``."""
        self.text += piece
        self._size += _size(piece)
        if self._size > self._limit:
            self._shorten()

    def _shorten(self) -> None:
        kept = self.text[-self._limit // 2 :]
        while _size(kept) > self._limit // 2:
            kept = kept[len(kept) // 2 or 1 :]
        self.offset += len(self.text) - len(kept)
        self.text, self._size = kept, _size(kept)


def _size(text: str) -> int:
    return len(to_json(text)) - 2


class Attempt:
    """One attempt of a model call: the message in the making, and what all attempts so far have taken."""

    def __init__(self, call: ModelCall, number: int, earlier: Sequence[Any] = ()) -> None:
        """``earlier`` are the heartbeat details that the previous attempt left, whatever release wrote them."""
        left = _left(earlier)
        self._standing = Standing.of(call, number, left)
        self.model = self._standing.model
        self._assembler = Assembler(call.message_id, self.model, number)
        self.number = number
        self._earlier = (left.usage, left.cost) if left else (Usage(), Cost())
        self._text = Window(TEXT_BYTES)
        self._reasoning = Window(REASONING_BYTES)
        self._asked = False
        self._answered = False
        self._spared = False
        self._billed = False

    def ask(self) -> None:
        """Note that a request goes out now: it counts, whatever comes of it."""
        self._asked = True
        self._standing = self._standing.asked()

    def spare(self) -> None:
        """Note that the provider did not work for this attempt: it was not asked, or turned the request away."""
        self._spared = True

    def fail(self, error: Exception, *, down: bool = False) -> Setback:
        """Note that the attempt ends in ``error``, and say what follows. ``down``: its model failed other calls too."""
        if not self._asked or not (self._answered or may_cost(error)):
            self.spare()
        self._standing, follows = self._standing.after(error, attempt=self.number, down=down)
        return follows

    @property
    def moved_on(self) -> bool:
        """Whether another model is asked next."""
        return self._standing.model != self.model

    @property
    def tries(self) -> int:
        """How often `model` was asked in this call, in all attempts."""
        return self._standing.tries

    def add(self, piece: Piece) -> bool:
        """Take in a piece of the answer. Whether `live` tells more than before."""
        self._assembler.add(piece)
        self._answered = True
        match piece:
            case TextPiece(text=text):
                self._text.add(text)
            case ReasoningPiece(text=text):
                self._reasoning.add(text)
            case UsagePiece():
                pass
            case StartPiece() | CallPiece() | OpaquePiece() | HostedPiece() | ImagePiece() | FinishPiece():
                return False
            case _:
                assert_never(piece)
        return True

    @property
    def taken(self) -> tuple[Usage, Cost] | None:
        """What this attempt took; None when it asked nobody.

        A request that the provider turned away costs nothing. One that it may have worked on, and nobody says how much,
        is of unknown price.
        """
        if not self._asked:
            return None
        return (Usage(requests=1), Cost()) if self._spared else (self._assembler.usage, self._assembler.cost)

    def bill(self) -> tuple[Usage, Cost] | None:
        """`taken`, the first time; then None. An attempt that is stopped while it tells of its end tells it once."""
        bill, self._billed = (None if self._billed else self.taken), True
        return bill

    @property
    def usage(self) -> Usage:
        """Of all attempts so far."""
        return self._earlier[0] + (self.taken[0] if self.taken else Usage())

    @property
    def cost(self) -> Cost:
        """Of all attempts so far."""
        return self._earlier[1] + (self.taken[1] if self.taken else Cost())

    @property
    def total(self) -> Bill:
        """`usage` and `cost`."""
        return Bill(usage=self.usage, cost=self.cost)

    @property
    def live(self) -> LiveText:
        """The heartbeat details.

        They are what is known if this worker is lost, and beats are sparse. So a request that is about to go out counts
        as one that did.
        """
        due = self.taken or ((Usage(), Cost()) if self._spared else (self._assembler.usage, self._assembler.cost))
        return LiveText(
            message_id=self._assembler.message_id,
            attempt=self.number,
            text=self._text.text,
            text_offset=self._text.offset,
            reasoning=self._reasoning.text,
            reasoning_offset=self._reasoning.offset,
            usage=self._earlier[0] + due[0],
            cost=self._earlier[1] + due[1],
            model=self.model,
            tries=self._standing.tries,
            given_up=self._standing.given_up,
        )

    def answer(self) -> AssistantMessage:
        """The whole message. Raises BadReplyError, not to be retried, when its length ended while the model thought."""
        message = self.message()
        if message.finish == "length" and all(part.kind == "reasoning" for part in message.parts):
            raise used_up(self.model.partition(":")[0])
        return message

    def message(self, finish: FinishReason | None = None) -> AssistantMessage:
        """The message so far, with what it took in all. ``finish`` overrides what the provider said."""
        taken = {"usage": self.usage, "cost": self.cost}
        return self._assembler.message(finish).model_copy(update=taken)


def _left(details: Sequence[Any]) -> LiveText | None:
    try:
        return LiveText.model_validate(details[0]) if details else None
    except ValidationError:
        # Another release wrote them: what it counted is lost, the call is not.
        return None
