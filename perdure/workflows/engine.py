"""The engine: keeps the loop, opens the work that instructions name, and feeds what it gives back into the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, assert_never

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.workflow import ActivityHandle

from perdure.brain.clock import wake_at
from perdure.brain.ending import ended
from perdure.brain.inputs import notifications
from perdure.brain.loop import Loop
from perdure.brain.resume import resume
from perdure.contracts.activities import Judgement, LiveText, Patience, ResolvedAgent
from perdure.contracts.continuation import Continuation
from perdure.contracts.instructions import (
    AskHumans,
    AuthorizeCalls,
    CallModel,
    CallTools,
    Finish,
    Instruction,
    RememberGrant,
    ResolveAgent,
    SettleCalls,
    StopWork,
)
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.outcomes import AnyOutcome, CallsJudged, ClockReached
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import State
from perdure.workflows import executors
from perdure.workflows.given import agent_outcome, model_outcome, verdicts_of
from perdure.workflows.visibility import Visibility

LARGEST_HAND_OVER = 1024 * 1024
"""Bytes of a state that is handed over at most: the server takes no larger input than 2 MB. A larger run goes on in its
execution."""


class Engine:
    """One run while it is worked on.

    ``fatal`` holds an error of ours that makes the run unusable. ``handing_over`` is set when the history has grown
    long and nothing runs: from then on no work is opened, and the next execution opens what the state calls open.
    """

    def __init__(self, run_id: str, start: RunRequest | Continuation) -> None:
        self.fatal: Exception | None = None
        self.handing_over = False
        self._opened = 0
        self._held: list[AskHumans | RememberGrant] = []
        self._recalled: dict[str, LiveText] = {}
        self._handles: dict[str, ActivityHandle[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._errands: set[asyncio.Task[None]] = set()
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at: datetime | None = None
        match start:
            case RunRequest():
                self._patience, self._visibility = Patience(), Visibility()
                self._notifications = False
                self._loop, first = Loop.begin(run_id, start, workflow.now())
                self._first = first.instructions
            case Continuation():
                self._patience, self._visibility = start.patience, Visibility(enabled=start.search_attributes)
                self._notifications = start.notifications
                self._loop = Loop(start.state, workflow.now())
                self._first = (*resume(start.state), *start.held)

    @property
    def state(self) -> State:
        return self._loop.state

    @property
    def errands_done(self) -> bool:
        """Whether all that others were to be told is told: notifications, and grants for other runs."""
        return not self._errands

    def start(self) -> None:
        """Open the first work."""
        self._guard(self._open_first)

    def continuation(self) -> Continuation:
        """What the next execution goes on with."""
        return Continuation(
            state=self.state,
            patience=self._patience,
            search_attributes=self._visibility.enabled,
            notifications=self._notifications,
            held=tuple(self._held),
        )

    def open_held(self) -> None:
        """Do what was held back for an execution that will not come, because the run has ended meanwhile."""
        held, self._held, self.handing_over = tuple(self._held), [], False
        self._guard(lambda: self._open(self.state, held))

    def _open_first(self) -> None:
        self._open(self.state, self._first)
        self._set_alarm()

    def feed(self, outcome: AnyOutcome) -> None:
        """Apply an outcome and open the work that follows. Never raises: an error of ours ends up in ``fatal``."""
        self._guard(lambda: self._feed(outcome))

    def _feed(self, outcome: AnyOutcome) -> None:
        for advance in self._loop.feed(outcome):
            self._open(advance.state, advance.instructions)
        self._visibility.show(self.state)
        self._set_alarm()
        if self.state.turn is None or self.state.requests or self.state.questions:
            self._maybe_hand_over()

    def _guard(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - handlers must not raise: run() reports it
            self.fatal = self.fatal or error

    def _open(self, state: State, instructions: tuple[Instruction, ...]) -> None:
        for instruction in instructions:
            if isinstance(instruction, CallModel):
                self._maybe_hand_over()
            if not self.handing_over:
                self._execute(state, instruction)
            elif isinstance(instruction, AskHumans | RememberGrant):
                self._held.append(instruction)

    def _maybe_hand_over(self) -> None:
        """Hand over when the server suggests it and nothing is open: an open activity would be cancelled.

        That holds for notifications too, though they may take minutes: their keys name the execution, so the next one
        could only tell them anew.
        """
        if self._opened or not workflow.info().is_continue_as_new_suggested() or ended(self.state):
            return
        self.handing_over = len(self.state.model_dump_json()) <= LARGEST_HAND_OVER

    def _execute(self, state: State, instruction: Instruction) -> None:
        match instruction:
            case ResolveAgent():
                self._spawn(self._resolve_agent(state))
            case CallModel():
                handle = executors.call_model(state, instruction, self._patience)
                self._handles[instruction.message_id] = handle
                self._spawn(self._model_outcome(instruction, handle), instruction.message_id)
            case AuthorizeCalls():
                judging = executors.authorize(state, instruction)
                self._spawn(self._judged(state, instruction, judging))
            case CallTools():
                self._call_tools(state, instruction)
            case StopWork():
                for key in instruction.call_ids:
                    if key in self._handles:
                        self._handles[key].cancel()
                if instruction.model_call in self._handles:
                    self._spawn(self._stop_model(instruction.model_call))
            case AskHumans():
                if self._notifications:
                    for notification in notifications(state, instruction):
                        self._send_out(executors.notify(notification))
            case RememberGrant():
                self._send_out(executors.remember_grant(instruction.grant))
            case SettleCalls() | Finish():
                pass  # The loop itself settles and finishes.
            case _:
                assert_never(instruction)

    async def _resolve_agent(self, state: State) -> AnyOutcome:
        given = await executors.resolve_agent(state)
        if isinstance(given, ResolvedAgent):
            self._patience = given.patience
            self._visibility.enabled = given.search_attributes
            self._notifications = given.notifications
        return agent_outcome(given, self._loop.at)

    async def _judged(self, state: State, instruction: AuthorizeCalls, handle: ActivityHandle[RawValue]) -> AnyOutcome:
        given = await executors.awaited(handle, Judgement)
        verdicts = verdicts_of(instruction.call_ids, state.request.humans, given)
        return CallsJudged(at=self._loop.at, verdicts=verdicts)

    async def _model_outcome(self, instruction: CallModel, handle: ActivityHandle[RawValue]) -> AnyOutcome:
        given = await executors.awaited(handle, AssistantMessage)
        turn = self.state.turn
        return model_outcome(
            instruction.message_id,
            instruction.model,
            given,
            workflow.now(),
            stopping=turn is not None and turn.stopping is not None,
            recalled=self._recalled.pop(instruction.message_id, None),
        )

    async def _stop_model(self, message_id: str) -> None:
        live = await executors.recall(message_id)
        if message_id in self._handles:
            if live is not None:
                self._recalled[message_id] = live
            self._handles[message_id].cancel()

    def _call_tools(self, state: State, instruction: CallTools) -> None:
        assert state.turn is not None
        assert state.agent is not None
        for call in state.turn.batch:
            if call.call_id not in instruction.call_ids:
                continue
            spec = state.agent.tool(call.tool)
            assert spec is not None, "the brain settles calls of unknown tools"
            handle = executors.call_tool(state, call, spec, self._patience)
            self._handles[call.call_id] = handle
            self._spawn(executors.tool_outcome(call, handle), call.call_id)

    def _send_out(self, errand: Coroutine[Any, Any, None]) -> None:
        task = self._spawn(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    def _spawn(self, work: Coroutine[Any, Any, AnyOutcome | None], key: str = "") -> asyncio.Task[None]:
        async def run() -> None:
            try:
                outcome = await work
            except Exception as error:  # noqa: BLE001 - a task's error reaches nobody: run() reports it
                self.fatal = self.fatal or error
                return
            self._handles.pop(key, None)
            self._opened -= 1
            if outcome is not None:
                self.feed(outcome)

        self._opened += 1
        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _set_alarm(self) -> None:
        """Keep one timer, and only while the state names a time: every timer costs two events."""
        at = wake_at(self.state)
        if at == self._alarm_at:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = asyncio.create_task(self._ring(at)) if at is not None else None

    async def _ring(self, at: datetime) -> None:
        try:
            pause = max(0.0, (at - workflow.now()).total_seconds())
            await workflow.sleep(pause, summary=f"{self.state.status} until {at:%Y-%m-%d %H:%M} UTC at most")
        except asyncio.CancelledError:
            return
        self._alarm = self._alarm_at = None
        self.feed(ClockReached(at=workflow.now()))
