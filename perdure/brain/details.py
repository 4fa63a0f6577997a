"""Details: a run in a few lines of Markdown, for whoever looks at it in the Temporal UI at night.

What a model, a tool or a person wrote stands in code spans without line breaks: as Markdown it could show links and
pictures of its own, or pretend to be a line of ours.
"""

from __future__ import annotations

import json
from datetime import datetime

from pydantic import JsonValue

from perdure.brain.ending import ended
from perdure.contracts.approvals import Question, RequestedCall
from perdure.contracts.names import ANSWER, APPROVE, DENY, SEND
from perdure.contracts.state import State
from perdure.contracts.usage import NANO

GLANCE = 200
"""Characters that are shown of anything long; `perdure show` has the whole."""

SHOWN_CALLS = 10
"""Waiting calls that are shown: the UI carries the whole text in an address."""


def details(state: State) -> str:
    """What is awaited and how to give it, what is at work, and what it all took."""
    head = f"**{state.status}**" + (f" · turn {state.turn.number}, step {state.turn.step}" if state.turn else "")
    blocks = [head, *_awaited(state), _at_work(state), _failure(state), _taken(state)]
    return "\n\n".join(filter(None, blocks))


def _awaited(state: State) -> list[str]:
    blocks = []
    for request in state.requests:
        lines = [f"- approve or deny {_call(call)}" for call in request.calls[:SHOWN_CALLS]]
        lines += [f"- and {more} more"] if (more := len(request.calls) - SHOWN_CALLS) > 0 else []
        blocks.append("\n".join(lines) + _until(request.deadline, request.default))
        blocks.append(_how(APPROVE, DENY, given={"call_id": request.calls[0].call_id}))
    for question in state.questions:
        blocks.append(f"- answer {_question(question)}{_until(question.deadline)}")
        blocks.append(_how(ANSWER, given={"call_id": question.call_id, "answer": "…"}))
    if state.status == "idle":
        blocks.append(_how(SEND, given={"message": "…"}))
    return blocks


def _call(call: RequestedCall) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    why = call.verdict.reason or call.verdict.rule
    return f"{code(call.call_id)} {code(call.tool)} {code(arguments)}: {code(why)}"


def _question(question: Question) -> str:
    options = " / ".join(code(option) for option in question.options)
    return f"{code(question.call_id)}: {code(question.text)}" + (f": {options}" if options else "")


def _until(deadline: datetime | None, default: str = "") -> str:
    if deadline is None:
        return ""
    then = f", then: {default}" if default else ""
    return f"\n\nuntil {deadline:%Y-%m-%d %H:%M} UTC{then}"


def _how(*signals: str, given: dict[str, JsonValue]) -> str:
    return f"Signal {' or '.join(map(code, signals))} with the input {code(json.dumps(given, ensure_ascii=False))}"


def _at_work(state: State) -> str:
    turn = state.turn
    if turn is None or ended(state):
        return ""
    lines = [f"- runs {code(call.call_id)} {code(call.tool)}" for call in turn.batch if call.status == "running"]
    lines += [f"- asks the model for {code(turn.model_call)}"] if turn.model_call else []
    lines += [f"- stops: {turn.stopping}"] if turn.stopping else []
    lines += [f"- {_counted(len(state.inbox), 'message')} queued"] if state.inbox else []
    return "\n".join(lines)


def _failure(state: State) -> str:
    return f"failed: {code(state.failure.message)}" if state.failure else ""


def _taken(state: State) -> str:
    least = "at least " if state.usage.incomplete else ""
    dollars = f"{least}${state.cost.nano_dollars / NANO:.4f}"
    unpriced = f" + {_counted(state.cost.unpriced, 'call')} of unknown price" if state.cost.unpriced else ""
    tokens = least + _counted(state.usage.total_tokens, "token")
    return f"{tokens}, {dollars}{unpriced}, {_counted(state.steps, 'model call')}"


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def code(text: str) -> str:
    """``text`` on one line in a code span, cut to `GLANCE`, without what would end the span or is not visible."""
    words = " ".join(text.replace("`", "'").split())
    shown = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in words)
    return f"`{shown if len(shown) <= GLANCE else shown[: GLANCE - 1] + '…'}`"
