"""Replies of Anthropic's Messages protocol, streamed or whole, as pieces of ours.

Blocks keep their borders and whatever came with them, since they go back as they came: thinking with its signature,
text with its citations, calls with who made them, and every block of a kind that is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.contracts.messages import FinishReason, Opaque
from perdure.providers.anthropic_blocks import OpenBlock
from perdure.providers.anthropic_usage import Tally
from perdure.providers.completion import NAMELESS
from perdure.providers.http import Reply
from perdure.providers.lenient import Json, a_list, a_text, an_object
from perdure.providers.payloads import DRAIN, Payload
from perdure.providers.stream import FinishPiece, Piece, StartPiece, TextPiece

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refused",
}
"""What a server's word means, calls aside; a word that is not here is taken for ``stop`` and kept as it is."""


class MessagesDecoder:
    """Decodes one answer: a reply, or several when it was paused in between.

    Each reply begins with `begin`; after the last one comes `finish`.
    """

    _reply: Reply

    def __init__(self, origin: str, tally: Tally) -> None:
        self._origin = origin
        self._tally = tally
        self._open: dict[int, OpenBlock] = {}
        self._last: OpenBlock | None = None
        self._calls = 0
        self._message_id: str | None = None
        self._raw = ""
        self._said = False
        self._explanation = ""
        self.content: list[Json] = []
        """The blocks of the current reply, whole."""
        self.container: Json = {}
        """Where the provider runs code for this conversation, if it does."""
        self.finished = False
        """Whether the provider has said that the current reply is whole."""

    @property
    def paused(self) -> bool:
        """Whether the current reply is whole, but not the answer."""
        return self.finished and self._raw == "pause_turn" and bool(self.content)

    @property
    def patience(self) -> float | None:
        """How long the next piece of the current reply may take."""
        return DRAIN if self.finished else None

    def begin(self, reply: Reply) -> MessagesDecoder:
        """The decoder, for another reply."""
        self._reply = reply
        self._open, self.content = {}, []
        self._message_id, self._raw, self.finished = None, "", False
        self._tally.begin()
        return self

    def feed(self, payload: Payload) -> Iterator[Piece]:
        """The pieces in one value. Raises the ProviderError that the value stands for, if it is one."""
        event = an_object(payload.first)
        kind = a_text(event.get("type")) or payload.event
        if payload.event == "error" or kind == "error" or event.get("error") or _complains(event):
            raise self._reply.fault(payload.first)
        index = event.get("index")
        number = index if isinstance(index, int) else -1
        match kind:
            case "message_start":
                yield from self._start(an_object(event.get("message")))
            case "message":
                yield from self._start(event)
                yield from self._ending(event)
                self.finished = True
            case "content_block_start":
                yield from self._close(number)
                yield from self._opened(number, an_object(event.get("content_block")))
            case "content_block_delta":
                if block := self._open.get(number):
                    yield from self._seen(block.add(an_object(event.get("delta"))))
            case "content_block_stop":
                yield from self._close(number)
            case "message_delta":
                yield from self._ending({**an_object(event.get("delta")), "usage": event.get("usage")})
            case "message_stop":
                self.finished = True
            case _:
                pass

    def end(self) -> Iterator[Piece]:
        """What the end of the current reply settles."""
        for number in [*self._open] if self.finished else ():
            yield from self._close(number)

    def finish(self) -> Iterator[Piece]:
        """The end of the answer."""
        reason = _FINISH.get(self._raw, "stop")
        if reason == "refused" and not self._said and self._explanation:
            yield TextPiece(self._explanation)
        if self.container:
            # It belongs to the conversation and to no block: it ends the last text, or stands behind an empty one.
            yield TextPiece("", Opaque(origin=self._origin, data={"container": self.container}))
        yield FinishPiece("calls" if reason == "stop" and self._calls else reason, self._raw)

    def _start(self, message: Json) -> Iterator[Piece]:
        message_id = a_text(message.get("id"))
        if self._message_id is not None:
            if message_id != self._message_id:
                raise self._reply.bad("another answer began inside this one")
            return
        self._message_id = message_id
        if message_id:
            yield StartPiece(message_id)
        if usage := an_object(message.get("usage")):
            yield self._tally.take(usage)
        for number, block in enumerate(a_list(message.get("content"))):
            yield from self._opened(number, an_object(block))
            yield from self._close(number)

    def _ending(self, ending: Json) -> Iterator[Piece]:
        self._raw = a_text(ending.get("stop_reason")) or self._raw
        self._explanation = a_text(an_object(ending.get("stop_details")).get("explanation")) or self._explanation
        self.container = an_object(ending.get("container")) or self.container
        if usage := an_object(ending.get("usage")):
            yield self._tally.take(usage)

    def _opened(self, number: int, content: Json) -> Iterator[Piece]:
        block = OpenBlock(content, self._origin, self._calls)
        if block.kind == "tool_use":
            self._calls += 1
            if not a_text(content.get("name")):
                raise self._reply.bad(NAMELESS)
        if self._last is not None and block.kind == "text":
            yield from self._last.parted()
        self._open[number] = self._last = block
        yield from self._seen(block.begin())

    def _close(self, number: int) -> Iterator[Piece]:
        if block := self._open.pop(number, None):
            yield from self._seen(block.end())
            if block.kind != "text" or a_text(block.content.get("text")).strip():
                self.content.append(block.content)

    def _seen(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        for piece in pieces:
            self._said = self._said or (isinstance(piece, TextPiece) and bool(piece.text))
            yield piece


def _complains(event: Json) -> bool:
    return "type" not in event and any(isinstance(event.get(key), str) for key in ("message", "detail"))
