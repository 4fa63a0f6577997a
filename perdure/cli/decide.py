"""Approving and denying: one call, some, all of a run, or everything in the inbox that a filter takes.

Each call is decided by an order of its own, bound to the arguments that were shown. What a run would refuse is refused
here already, by its history, so that the reason comes at once when no worker runs.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from perdure.cli.confirm import confirmed
from perdure.cli.inbox import Filter, Item, items_of, shown_item
from perdure.cli.lines import Span
from perdure.cli.order import give, state_of, tell_what_next
from perdure.cli.revise import Arguments, arguments_in, check_fit, revised
from perdure.cli.screen import Screen
from perdure.cli.session import Session, actor, reaching, read_settings
from perdure.cli.text import arguments_line, counted, lasting, plain
from perdure.client.delivery import KEPT
from perdure.contracts.approvals import RequestedCall
from perdure.contracts.errors import InvalidInputError, OrderRefusedError
from perdure.contracts.requests import Approve, Deny, Remember
from perdure.contracts.state import State


@dataclass(frozen=True, slots=True)
class Decision:
    """What is said of calls. ``edit`` opens an editor on the arguments, ``arguments`` is JSON that replaces them."""

    approves: bool
    reason: str = ""
    edit: bool = False
    arguments: str | None = None
    remember: Remember | None = None

    @property
    def changes(self) -> bool:
        """Whether the arguments are changed."""
        return self.edit or self.arguments is not None

    @property
    def done(self) -> str:
        """What was done, in a word."""
        return "approved" if self.approves else "denied"

    def of(self, call_id: str, call: RequestedCall | None, arguments: Arguments | None = None) -> Approve | Deny:
        """The order about one call."""
        digest = call.digest if call else ""
        if not self.approves:
            return Deny(call_id=call_id, digest=digest, reason=self.reason, actor=actor())
        return Approve(
            call_id=call_id,
            digest=digest,
            arguments=arguments,
            remember=self.remember,
            reason=self.reason,
            actor=actor(),
        )


async def decide_run(run_id: str, call_ids: Sequence[str], tool: str, decision: Decision) -> int:
    """Decide these calls of a run, every call of the tool, or the only one that waits.

    Raises OrderRefusedError where none or several could be meant.
    """
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        state = await state_of(session, run_id)
        waiting = {call.call_id: call for request in state.requests for call in request.calls} if state else {}
        meant = [*dict.fromkeys(call_ids)] or [each for each, call in waiting.items() if tool in ("", call.tool)]
        if tool and not meant:
            raise OrderRefusedError(f"No call of the tool {tool!r} waits for approval in run {run_id}.")
        arguments = await _changed(decision, state, waiting, meant, screen) if decision.changes else None
        if len(meant) > 1 and not (call_ids or tool):
            verb = "approve" if decision.approves else "deny"
            every = f"perdure {verb} {shlex.quote(run_id)} {' '.join(meant)}"
            raise OrderRefusedError(f"{len(meant)} calls wait: name which. `{every}` names all of them.")
        for call_id in meant or [""]:
            call = waiting.get(call_id)
            told = await give(session, run_id, decision.of(call_id, call, arguments), state, screen)
            screen.write(_done(decision, "", call_id, call, arguments))
        _tell_remembered(screen, decision, state, kept=told.receipt.reason == KEPT)
        tell_what_next(screen, run_id, told)
    return 0


async def decide_inbox(chosen: Filter, decision: Decision, *, yes: bool) -> int:
    """Decide every call in the inbox that ``chosen`` takes, once a person has confirmed the list.

    What a safety rule or an always_ask asks is not approved in a heap.
    """
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        calls = [item for item in await items_of(session, chosen, screen) if item.call]
        firm = [item for item in calls if decision.approves and item.call and item.call.verdict.firm]
        meant = [item for item in calls if item not in firm]
        for item in meant:
            screen.write(shown_item(item, datetime.now(UTC), full=False))
        for item in firm:
            screen.note(f"left waiting: {item.run_id} {item.asked.call_id} must be approved by its name", "alert")
        if not meant:
            screen.note(f"No call waits{chosen} that could be {decision.done} so.", "plain")
            return 0
        verb = "approve" if decision.approves else "deny"
        what = f"{verb} {'this call' if len(meant) == 1 else f'these {len(meant):,} calls'}"
        if not await confirmed(screen, what, yes=yes):
            return 1
        refused = [item for item in meant if not await _decided(session, item, decision, screen)]
    if refused:
        raise OrderRefusedError(f"{counted(len(refused), 'call')} of {len(meant):,} could not be {decision.done}.")
    return 0


async def _decided(session: Session, item: Item, decision: Decision, screen: Screen) -> bool:
    call = item.call
    assert call is not None
    try:
        state = await state_of(session, item.run_id)
        told = await give(session, item.run_id, decision.of(call.call_id, call), state, screen)
    except OrderRefusedError as error:
        screen.note(f"not {decision.done}: {item.run_id} {call.call_id}: {plain(str(error))}", "bad")
        return False
    screen.write(_done(decision, f"{item.run_id} ", call.call_id, call, None))
    if told.receipt.reason:
        screen.note(f"  {plain(told.receipt.reason)}", "plain")
    return True


async def _changed(
    decision: Decision, state: State | None, waiting: dict[str, RequestedCall], meant: list[str], screen: Screen
) -> Arguments | None:
    if len(meant) != 1:
        named = f": name one of {', '.join(meant)}" if meant else ""
        raise InvalidInputError(f"The arguments of one call at a time can be changed{named}.")
    call = waiting.get(meant[0])
    if call is None or state is None:
        # The run says why such a call cannot be approved.
        return arguments_in(decision.arguments) if decision.arguments is not None else None
    if decision.arguments is None:
        return await revised(call, state, screen)
    arguments = arguments_in(decision.arguments)
    check_fit(arguments, call, state)
    return arguments


def _done(
    decision: Decision, run: str, call_id: str, call: RequestedCall | None, arguments: Arguments | None
) -> tuple[Span, ...]:
    if call is None:
        return (Span(f"{decision.done} {run}{call_id}\n"),)
    written = arguments_line(call.arguments if arguments is None else arguments, "")
    return (Span(f"{decision.done} {run}{call_id} {plain(call.tool)} {written}\n"),)


def _tell_remembered(screen: Screen, decision: Decision, state: State | None, *, kept: bool) -> None:
    remember = decision.remember
    if remember is None or state is None:
        return
    subjects = {"run": state.run_id, "agent": state.agent.name if state.agent else "", "user": state.request.user}
    what = "whatever the arguments" if remember.when == () else "for the same arguments"
    until = f", for {lasting(remember.expires_in)}" if remember.expires_in else ""
    which = f" --run {state.run_id}" if remember.level == "run" else ""
    # The books of agents and users are written after the run has heard of it.
    done, then = ("Remembered", "") if remember.level == "run" and not kept else ("To be remembered", ", once it is")
    screen.note(
        f"{done} for the {remember.level} {plain(subjects[remember.level])} {what}{until}: "
        f"`perdure grants{which}` lists it{then}.",
        "plain",
    )
