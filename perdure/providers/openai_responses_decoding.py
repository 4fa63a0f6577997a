"""Replies of OpenAI's Responses protocol, streamed or whole, as pieces of ours.

Items come out in the order in which they began: text as it grows, a call or anything else once it is whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from perdure.contracts.messages import FinishReason
from perdure.contracts.usage import Usage
from perdure.providers.completion import NAMELESS
from perdure.providers.dialects import Dialect
from perdure.providers.http import Reply
from perdure.providers.lenient import Json, a_count, a_text, an_object
from perdure.providers.openai_responses_items import (
    call_kept,
    done_in,
    hosted_kept,
    message_kept,
    reasoning_kept,
)
from perdure.providers.openai_responses_output import Item, Output, Prose
from perdure.providers.payloads import DRAIN, Payload
from perdure.providers.stream import (
    CallPiece,
    FinishPiece,
    HostedPiece,
    Piece,
    ReasoningPiece,
    StartPiece,
    TextPiece,
    UsagePiece,
)

_UNFINISHED = ("queued", "in_progress")
_TWO_VERSIONS = "the text of the answer came in two versions"


class ResponsesDecoder:
    """Decodes one reply."""

    def __init__(self, reply: Reply, dialect: Dialect, origin: str, limit: int | None = None) -> None:
        """``limit`` is the most output tokens that the request allowed, if it set any."""
        self._reply = reply
        self._dialect = dialect
        self._origin = origin
        self._limit = limit
        self._output = Output()
        self._told = 0
        self._calls = 0
        self._started = False
        self._refused = False
        self.finished = False
        """Whether the provider has said that the answer is whole."""

    @property
    def patience(self) -> float | None:
        """How long the next piece of the reply may take."""
        return DRAIN if self.finished else None

    def feed(self, payload: Payload) -> Iterator[Piece]:
        """The pieces in one value. Raises the ProviderError that the value stands for, if it is one."""
        event = an_object(payload.first)
        kind = a_text(event.get("type")) or payload.event
        if self.finished:
            return
        if kind == "error" or payload.event == "error" or _is_error(event):
            raise self._reply.fault(payload.first)
        response = an_object(event.get("response")) or (event if "output" in event or "status" in event else {})
        if not self._started and (response_id := a_text(response.get("id"))):
            self._started = True
            yield StartPiece(response_id)
        match kind.removeprefix("response.").split("."):
            case ["output_item", "added"]:
                self._output.announced(event)
            case ["output_item", "done"]:
                self._settle(self._output.finished(event))
            case ["output_text", "delta"]:
                self._text(event).add(a_text(event.get("delta")))
            case ["output_text", "done"]:
                if not self._text(event).settle(a_text(event.get("text"))):
                    raise self._reply.bad(_TWO_VERSIONS)
            case ["refusal", "delta"]:
                self._text(event, refusal=True).add(a_text(event.get("delta")))
            case ["reasoning_summary_text" | "reasoning_text" as channel, "delta"]:
                index = a_count(event.get("summary_index")) or a_count(event.get("content_index"))
                item = self._output.pointed_at(event, "reasoning")
                item.think((channel, index), a_text(event.get("delta")))
            case ["function_call_arguments", "delta"]:
                self._output.pointed_at(event, "function_call").written.append(a_text(event.get("delta")))
            case ["function_call_arguments", "done"]:
                if written := a_text(event.get("arguments")):
                    self._output.pointed_at(event, "function_call").written = [written]
            case ["completed" | "incomplete" | "failed" | "cancelled" as end]:
                yield from self._end(response, a_text(response.get("status")) or end)
            case [""] if "output" in event or "status" in event:
                yield from self._end(event, a_text(event.get("status")) or "completed")
            case _:
                pass
        yield from self._news()

    def end(self) -> Iterator[Piece]:
        """Nothing: the last event settles all."""
        return iter(())

    def _text(self, event: Json, *, refusal: bool = False) -> Prose:
        item, index = self._output.pointed_at(event, "message"), a_count(event.get("content_index"))
        if refusal:
            item.refusals.add(index)
        return item.text(index)

    def _end(self, response: Json, status: str) -> Iterator[Piece]:
        if status in _UNFINISHED:
            return
        if status == "failed":
            raise self._reply.fault({"error": response.get("error") or {"message": "the provider failed to answer"}})
        if status == "cancelled":
            raise self._reply.bad("the provider cancelled the answer")
        for item in self._output.completed(response.get("output")):
            self._settle(item)
        yield from self._news()
        usage = response.get("usage")
        if usage and isinstance(usage, dict):
            yield UsagePiece(usage_of(usage))
        self.finished = True
        reason = a_text(an_object(response.get("incomplete_details")).get("reason"))
        yield FinishPiece(self._reason(status, reason, usage), reason or status)

    def _reason(self, status: str, incomplete: str, usage: JsonValue) -> FinishReason:
        if self._refused or incomplete == "content_filter":
            return "refused"
        took = a_count(an_object(usage).get("output_tokens"))
        if status == "incomplete" or (self._dialect.silent_cuts and self._limit and took >= self._limit):
            return "length"
        return "calls" if self._calls else "stop"

    def _settle(self, item: Item) -> None:
        if not item.done and not item.settle():
            raise self._reply.bad(_TWO_VERSIONS)

    def _news(self) -> Iterator[Piece]:
        """What can be told by now: all of the items that are done, and the text so far of the one after them."""
        while self._told < len(self._output.items):
            item = self._output.items[self._told]
            if item.kind == "message" and 0 in item.texts and (text := item.texts[0].take()):
                yield TextPiece(text)
            elif item.kind == "reasoning" and (text := item.thought.take()):
                yield ReasoningPiece(text)
            if not item.done:
                return
            yield from self._whole(item)
            self._told += 1

    def _whole(self, item: Item) -> Iterator[Piece]:
        match item.kind:
            case "message":
                for index, content in enumerate(item.contents):
                    self._refused = self._refused or content.get("type") == "refusal"
                    prose = item.text(index)
                    rest = prose.take()
                    yield TextPiece(rest, message_kept(self._origin, item.raw, content, prose.told))
            case "reasoning":
                yield ReasoningPiece("", reasoning_kept(self._origin, item.raw, item.thought.told))
            case "function_call":
                name = a_text(item.raw.get("name"))
                if not name:
                    raise self._reply.bad(NAMELESS)
                yield CallPiece(
                    self._calls,
                    id=a_text(item.raw.get("call_id")),
                    name=name,
                    arguments=item.arguments,
                    opaque=call_kept(self._origin, item.raw),
                )
                self._calls += 1
            case kind:
                yield HostedPiece(
                    kind or "unknown",
                    hosted_kept(self._origin, item.raw),
                    name=a_text(item.raw.get("name")) or a_text(item.raw.get("server_label")),
                    text=done_in(item.raw),
                )


def usage_of(usage: Json) -> Usage:
    """The protocol's ``usage`` in our terms."""
    read, written = an_object(usage.get("input_tokens_details")), an_object(usage.get("output_tokens_details"))
    taken, made = a_count(usage.get("input_tokens")), a_count(usage.get("output_tokens"))
    return Usage(
        input_tokens=taken,
        cached_tokens=min(a_count(read.get("cached_tokens")), taken),
        cache_write_tokens=a_count(read.get("cache_write_tokens")),
        output_tokens=made,
        reasoning_tokens=min(a_count(written.get("reasoning_tokens")), made),
    )


def _is_error(event: Json) -> bool:
    if event.get("object") == "error" or (event.get("error") and "type" not in event and "output" not in event):
        return True
    known = ("type", "output", "response", "status")
    return not any(key in event for key in known) and any(
        isinstance(event.get(key), str) for key in ("message", "detail")
    )
