"""The inbox: what waits for a human in all runs, read from their histories, so that no worker is needed to look."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from perdure.cli.ask import shown_arguments, shown_options
from perdure.cli.hints import how_to_decide_one
from perdure.cli.lines import Span, because
from perdure.cli.listing import READ_AT_ONCE, query_of
from perdure.cli.screen import Screen
from perdure.cli.session import Session, reaching, read_settings, said
from perdure.cli.text import counted, lasting, one_line, plain
from perdure.cli.waiting import Asked
from perdure.client.listing import RunListing
from perdure.contracts.agent import ApprovalRule
from perdure.contracts.approvals import ApprovalRequest, Question, RequestedCall
from perdure.contracts.errors import OperatorError, ServerUnavailableError
from perdure.contracts.names import ASK_HUMAN
from perdure.contracts.record import Record
from perdure.contracts.state import State

RUNS_AT_MOST = 10_000


class Item(Record):
    """One thing that waits: a call for approval, or a question for an answer.

    ``agent`` is whose run it is and ``user`` who started it; ``approved_by`` names those who approved already, where
    several must. At the ``deadline``, if there is one, ``default`` holds (for a question: nobody answered).
    """

    run_id: str
    agent: str = ""
    user: str = ""
    opened_at: datetime
    deadline: datetime | None = None
    default: Literal["deny", "approve"] = "deny"
    call: RequestedCall | None = None
    question: Question | None = None
    approved_by: tuple[str, ...] = ()

    @property
    def asked(self) -> Asked:
        """The call or the question."""
        asked = self.call or self.question
        assert asked is not None
        return asked

    @property
    def tool(self) -> str:
        """The tool that waits."""
        return self.call.tool if self.call else ASK_HUMAN


@dataclass(frozen=True, slots=True)
class Filter:
    """Which items are meant: those of an agent, of a tool; an empty name means any."""

    agent: str = ""
    tool: str = ""

    def takes(self, item: Item) -> bool:
        """Whether the item is meant."""
        return self.agent in ("", item.agent) and self.tool in ("", item.tool)

    def __str__(self) -> str:
        of = f" of the agent {self.agent}" if self.agent else ""
        return f"{of}{f' for the tool {self.tool}' if self.tool else ''}"


async def show_inbox(chosen: Filter, *, as_json: bool, full: bool) -> int:
    """Show what waits in all runs, the most urgent first."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        items = await items_of(session, chosen, screen)
    if as_json:
        for item in items:
            screen.line(item.model_dump_json())
        return 0
    for item in items:
        screen.write(shown_item(item, datetime.now(UTC), full=full))
    if not items:
        screen.note(f"Nothing waits for a human{chosen}.", "plain")
    elif len(items) > 1:
        screen.note(f"{counted(len(items), 'item')}. `perdure approve --all` takes --agent and --tool too.", "plain")
    return 0


async def items_of(session: Session, chosen: Filter, screen: Screen) -> list[Item]:
    """What waits in all runs and is meant: by deadline, then by age."""
    turnstile = asyncio.Semaphore(READ_AT_ONCE)

    async def read(run: RunListing) -> list[Item]:
        async with turnstile:
            history = await session.client.history(run.run_id)
        # What is decided already waits for nobody, though no worker may have heard of it yet.
        state = await history.foreseen()
        return [] if state is None or history.closed else items_in(state)

    async with said(screen, "Reading what waits in all runs …"):
        found = await asyncio.gather(*map(read, await _waiting_runs(session)))
    items = [item for of_run in found for item in of_run if chosen.takes(item)]
    return sorted(items, key=lambda item: (item.deadline is None, item.deadline or item.opened_at, item.opened_at))


async def _waiting_runs(session: Session) -> tuple[RunListing, ...]:
    try:
        return await session.client.list(query=query_of("waiting"), limit=RUNS_AT_MOST)
    except ServerUnavailableError:
        raise
    except OperatorError:
        # A server without our search attributes refuses the question; then every run that goes on is read.
        return await session.client.list(query="ExecutionStatus = 'Running'", limit=RUNS_AT_MOST)


def items_in(state: State) -> list[Item]:
    """What waits in one run."""
    agent = state.agent.name if state.agent else ""

    def of_call(request: ApprovalRequest, call: RequestedCall) -> Item:
        made = state.turn.call(call.call_id) if state.turn else None
        return Item(
            run_id=state.run_id,
            agent=agent,
            user=state.request.user,
            opened_at=request.opened_at,
            deadline=request.deadline,
            default=request.default,
            call=call,
            approved_by=tuple(approval.actor for approval in made.approvals) if made else (),
        )

    def of_question(question: Question) -> Item:
        return Item(
            run_id=state.run_id,
            agent=agent,
            user=state.request.user,
            opened_at=question.opened_at,
            deadline=question.deadline,
            question=question,
        )

    calls = [of_call(request, call) for request in state.requests for call in request.calls]
    return [*calls, *map(of_question, state.questions)]


def shown_item(item: Item, now: datetime, *, full: bool) -> Iterator[Span]:
    """The item as a person reads it: where, since when, until when, exactly what would run, and who may approve."""
    yield Span(f"{plain(item.run_id)}  {item.asked.call_id} {one_line(item.tool, 200)}\n", "strong")
    by = f", started by {plain(item.user)}" if item.user else ""
    yield Span(f"  agent {plain(item.agent)}{by}; waits {lasting(now - item.opened_at)}{_until(item, now)}\n", "quiet")
    if item.call:
        yield from shown_arguments(item.call, everything=full, rest="--full shows all")
        yield Span(f"  why it asks: {because(item.call.verdict)}\n", "alert")
        may = who_may(item.call.approval, item.user)
        so_far = f"; so far: {', '.join(map(plain, item.approved_by))}" if item.approved_by else ""
        yield Span(f"  who may approve: {may}{so_far}\n")
    if item.question:
        yield from shown_options(item.question)
    yield Span("".join(f"  {command}\n" for command in how_to_decide_one(item.run_id, item.asked)), "quiet")


def who_may(rule: ApprovalRule, starter: str) -> str:
    """Who may approve, in words."""
    who = ", ".join(map(plain, rule.approvers)) or "anybody"
    but = f" but {plain(starter) or 'whoever started the run'}, who started the run" if rule.not_starter else ""
    return f"{who}{but}{f'; {rule.needed} people must' if rule.needed > 1 else ''}"


def _until(item: Item, now: datetime) -> str:
    if item.deadline is None:
        return ""
    left = f"in {lasting(item.deadline - now)}" if item.deadline > now else "now"
    then = {"deny": "denied", "approve": "approved"}[item.default] if item.call else "given up"
    return f"; {then} {left} ({item.deadline.astimezone():%Y-%m-%d %H:%M:%S %Z})"
