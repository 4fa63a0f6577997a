"""The lines that an event is worth: calls and their arguments, results, what is asked and decided, ends and costs.

Each line begins with a word, so that it reads the same without colours and can be searched for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from perdure.cli.text import arguments_line, as_json, first_lines, one_line, plain, taken
from perdure.contracts.approvals import ApprovalRequest, Question, Verdict
from perdure.contracts.events import (
    AnyEvent,
    CallEnded,
    CallsReviewed,
    CallStarted,
    DeadlinePassed,
    GrantMade,
    MessageReceived,
    ModelAnswered,
    ModelCalled,
    ModelGaveUp,
    OrderReceived,
    QuestionOpened,
    RequestOpened,
    Retrying,
    RunBegan,
    RunClosed,
    StatusChanged,
    TextArrived,
    TurnBegan,
    TurnEnded,
)
from perdure.contracts.messages import AssistantMessage, FinishReason, ResultStatus, ToolMessage, UserMessage
from perdure.contracts.names import CALL_MODEL
from perdure.contracts.requests import Cancel, Order

Style = Literal["plain", "quiet", "strong", "good", "bad", "alert"]

REASON_CHARACTERS = 500

RESULT_WORDS: dict[ResultStatus, tuple[str, Style]] = {
    "ok": ("done", "good"),
    "error": ("failed", "bad"),
    "denied": ("denied", "bad"),
    "invalid": ("invalid", "bad"),
    "interrupted": ("stopped", "bad"),
    "unknown": ("unknown", "bad"),
    "unavailable": ("missing", "bad"),
}
FINISH_NOTES: dict[FinishReason, str] = {
    "length": "(the answer was cut at the model's length limit)",
    "refused": "(the model refused to answer)",
    "interrupted": "(interrupted)",
}


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text with one style."""

    text: str
    style: Style = "plain"


def lines(event: AnyEvent) -> Iterator[Span]:
    """The whole lines that ``event`` is worth, without their line ends; none for an event that shows nothing."""
    match event:
        case RunBegan():
            yield Span(f"agent {plain(event.agent)}, model {plain(event.model)}", "quiet")
        case MessageReceived():
            yield from _message(event.message)
        case ModelCalled(problem=problem) if problem:
            yield Span(f"(the answer does not fit: {one_line(problem, REASON_CHARACTERS)} Asked again)", "alert")
        case ModelCalled(forced=True):
            yield Span("(last step: the model must answer now)", "quiet")
        case ModelAnswered():
            yield from _calls(event.message)
        case ModelGaveUp():
            yield Span(f"model call failed: {one_line(event.failure.message, REASON_CHARACTERS)}", "bad")
        case RequestOpened():
            yield from _request(event.request)
        case QuestionOpened():
            yield from _question(event.question)
        case OrderReceived():
            yield _order(event.order, event.refused)
        case GrantMade():
            yield Span(f"  (grant {event.grant.grant_id}: {plain(event.grant.tool)}, {event.grant.level})", "quiet")
        case DeadlinePassed():
            yield Span(f"  (nobody responded about {event.call_id} in time: {event.decision})", "alert")
        case CallEnded():
            yield from _result(event.result)
        case StatusChanged(status="idle"):
            yield Span("(the conversation rests until the next message)", "quiet")
        case TurnEnded():
            yield from _turn(event)
        case Retrying():
            what = "model call" if event.activity == CALL_MODEL else plain(event.activity)
            reason = one_line(event.reason, REASON_CHARACTERS).rstrip(".")
            until = f" at {event.until:%H:%M:%S %Z}" if event.until else ""
            yield Span(f"({what} failed: {reason}; attempt {event.attempt} follows{until})", "alert")
        case TurnBegan() | ModelCalled() | CallsReviewed() | CallStarted() | StatusChanged() | RunClosed():
            return
        case TextArrived():
            return
        case _:
            assert_never(event)


def _message(message: UserMessage) -> Iterator[Span]:
    sender = f"{plain(message.sender)}> " if message.sender else "> "
    for part in message.parts:
        if part.kind == "text":
            first, *others = plain(part.text).split("\n")
            yield Span(sender + first, "strong")
            yield from (Span("  " + line, "strong") for line in others)
        else:
            name = f" {one_line(part.name, 200)}" if part.kind == "file" and part.name else ""
            yield Span(f"{sender}({part.kind}{name}, {part.media_type})", "strong")


def _calls(message: AssistantMessage) -> Iterator[Span]:
    note = FINISH_NOTES.get(message.finish)
    if note:
        yield Span(note, "alert")
    if message.finish == "interrupted":
        return
    for call in message.calls:
        written = arguments_line(call.arguments, call.arguments_text)
        yield Span(f"  call    {call.call_id} {plain(call.tool)} {written}")


def _result(result: ToolMessage) -> Iterator[Span]:
    word, style = RESULT_WORDS[result.status]
    text = result.text or ("" if result.data is None else as_json(result.data))
    first, *others = first_lines(text)
    yield Span(f"  {word:<7} {result.call_id} {plain(result.tool)}{f': {first}' if first else ''}", style)
    yield from (Span(f"          {line}".rstrip(), "quiet") for line in others)


def _request(request: ApprovalRequest) -> Iterator[Span]:
    until = f" (until {request.deadline:%Y-%m-%d %H:%M:%S %Z}, then {request.default})" if request.deadline else ""
    for call in request.calls:
        why = because(call.verdict)
        yield Span(f"  asks    {call.call_id} {plain(call.tool)} waits for approval: {why}{until}", "alert")


def _question(question: Question) -> Iterator[Span]:
    options = f" ({' / '.join(one_line(option, 80) for option in question.options)})" if question.options else ""
    until = f" (until {question.deadline:%Y-%m-%d %H:%M:%S %Z})" if question.deadline else ""
    yield Span(f"  asks    {question.call_id} {one_line(question.text, REASON_CHARACTERS)}{options}{until}", "alert")


def because(verdict: Verdict) -> str:
    """Why a call asks, with the rule that says so."""
    reason = one_line(verdict.reason, REASON_CHARACTERS).rstrip(".")
    return f"{reason} [{verdict.rule}]" if reason else f"[{verdict.rule}]"


def _order(order: Order | Cancel, refused: str) -> Span:
    by = f" by {plain(order.actor)}" if order.actor else ""
    match order.kind:
        case "send":
            said, text = "message", ""
        case "approve":
            said, text = f"approval of {order.call_id or order.request_id or 'what waits'}", order.reason
            if order.arguments is not None:
                by = f"{by}, with changed arguments: {arguments_line(order.arguments, '')}"
        case "deny":
            said, text = f"denial of {order.call_id or order.request_id or 'what waits'}", order.reason
        case "answer":
            said = f"answer{f' to {order.call_id}' if order.call_id else ''}"
            text = order.answer if isinstance(order.answer, str) else ", ".join(order.answer)
        case "edit":
            said, text = f"change of message {order.message_id}", order.message
        case "withdraw":
            said, text = f"withdrawal of message {order.message_id}", order.reason
        case "revoke":
            said, text = f"revocation of grant {order.grant_id}", order.reason
        case "interrupt" | "close" | "cancel":
            said, text = order.kind, order.reason
        case _:
            assert_never(order.kind)
    shown = f": {one_line(text, REASON_CHARACTERS)}" if text else ""
    if refused:
        return Span(f"  (no effect: {said}{by}: {one_line(refused, REASON_CHARACTERS)})", "quiet")
    return Span(f"  ({said}{by}{shown})", "quiet")


def _turn(event: TurnEnded) -> Iterator[Span]:
    why = f": {one_line(event.failure.message, REASON_CHARACTERS)}" if event.failure else ""
    style: Style = "quiet" if event.end == "completed" else "alert"
    yield Span(f"turn {event.turn} {event.end}{why} - {taken(event.usage, event.cost)}", style)
