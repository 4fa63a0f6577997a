"""`AgentRun`: one run of an agent. Its history is the record of the run and the means to replay it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from perdure.brain.ending import ended
from perdure.brain.receipt import receipt_for
from perdure.brain.refuse import refusal
from perdure.brain.views import open_requests, output, summary, transcript_page
from perdure.contracts.approvals import OpenRequests
from perdure.contracts.errors import InvalidInputError, PerdureError
from perdure.contracts.failures import Failure, bounded
from perdure.contracts.ids import GRANT_BOOKS
from perdure.contracts.names import (
    AGENT_RUN,
    ANSWER,
    APPROVE,
    CLOSE,
    DENY,
    EDIT,
    INTERRUPT,
    OPEN_REQUESTS,
    REVOKE,
    SEND,
    SUMMARY,
    TRANSCRIPT,
    WITHDRAW,
)
from perdure.contracts.outcomes import CancelReceived, Received
from perdure.contracts.requests import Cancel, Order, Receipt
from perdure.contracts.state import RunOutput, RunSummary, State, TranscriptPage
from perdure.workflows.engine import Engine
from perdure.workflows.orders import read_order, read_start

LAST_ERRANDS = timedelta(seconds=5)
"""How long a run that is over waits for its last notifications and grants."""


@workflow.defn(name=AGENT_RUN)
class AgentRun:
    """The agent loop as a workflow. Input: a `RunRequest`; result: a `RunOutput`."""

    @workflow.init
    def __init__(self, *args: Any) -> None:
        # Not in run(): signals and updates that came before the first task are handled before run() begins.
        self._engine: Engine | None = None
        self._unreadable: Exception | None = None
        try:
            run_id = workflow.info().workflow_id
            if run_id.startswith(GRANT_BOOKS):
                raise InvalidInputError(f"A run cannot have the id {run_id!r}: it is that of a book of grants.")
            self._engine = Engine(run_id, read_start(args))
        except Exception as error:  # noqa: BLE001 - an error here would fail the task for ever: run() reports it
            self._unreadable = error

    @workflow.run
    async def run(self, *args: Any) -> RunOutput:
        if self._engine is None:
            raise _as_failure(self._unreadable or InvalidInputError("The start request cannot be read."))
        try:
            return await self._to_the_end(self._engine)
        except (ApplicationError, workflow.NondeterminismError):
            raise
        except Exception as error:
            # A plain exception would be retried for ever; one about data must end the run where people see it.
            raise _as_failure(error) from error

    async def _to_the_end(self, engine: Engine) -> RunOutput:
        engine.start()
        while not _stops_here(engine):
            try:
                await workflow.wait_condition(lambda: _stops_here(engine))
            except asyncio.CancelledError:
                order = Cancel.parse(workflow.cancellation_reason() or "")
                engine.feed(CancelReceived(at=workflow.now(), order=order))
        if ended(engine.state):
            engine.open_held()
        if engine.fatal is None:
            await _errands_done(engine)
        await workflow.wait_condition(workflow.all_handlers_finished)
        if engine.fatal:
            raise engine.fatal
        if engine.handing_over and not ended(engine.state):
            workflow.continue_as_new(engine.continuation())
        match engine.state.status:
            case "canceled":
                raise asyncio.CancelledError
            case "failed":
                raise _run_failure(engine.state)
            case _:
                return output(engine.state)

    # Updates answer with a receipt; their signal twins take the same input and answer nothing.

    @workflow.update(name=SEND)
    async def send(self, *args: Any) -> Receipt:
        return self._take(read_order(SEND, args))

    @workflow.update(name=EDIT)
    async def edit(self, *args: Any) -> Receipt:
        return self._take(read_order(EDIT, args))

    @workflow.update(name=WITHDRAW)
    async def withdraw(self, *args: Any) -> Receipt:
        return self._take(read_order(WITHDRAW, args))

    @workflow.update(name=REVOKE)
    async def revoke(self, *args: Any) -> Receipt:
        return self._take(read_order(REVOKE, args))

    @workflow.update(name=APPROVE)
    async def approve(self, *args: Any) -> Receipt:
        return self._take(read_order(APPROVE, args))

    @workflow.update(name=DENY)
    async def deny(self, *args: Any) -> Receipt:
        return self._take(read_order(DENY, args))

    @workflow.update(name=ANSWER)
    async def answer(self, *args: Any) -> Receipt:
        return self._take(read_order(ANSWER, args))

    @workflow.update(name=INTERRUPT)
    async def interrupt(self, *args: Any) -> Receipt:
        return self._take(read_order(INTERRUPT, args))

    @workflow.update(name=CLOSE)
    async def close(self, *args: Any) -> Receipt:
        return self._take(read_order(CLOSE, args))

    @send.validator
    def _may_send(self, *args: Any) -> None:
        self._check(SEND, args)

    @edit.validator
    def _may_edit(self, *args: Any) -> None:
        self._check(EDIT, args)

    @withdraw.validator
    def _may_withdraw(self, *args: Any) -> None:
        self._check(WITHDRAW, args)

    @revoke.validator
    def _may_revoke(self, *args: Any) -> None:
        self._check(REVOKE, args)

    @approve.validator
    def _may_approve(self, *args: Any) -> None:
        self._check(APPROVE, args)

    @deny.validator
    def _may_deny(self, *args: Any) -> None:
        self._check(DENY, args)

    @answer.validator
    def _may_answer(self, *args: Any) -> None:
        self._check(ANSWER, args)

    @interrupt.validator
    def _may_interrupt(self, *args: Any) -> None:
        self._check(INTERRUPT, args)

    @close.validator
    def _may_close(self, *args: Any) -> None:
        self._check(CLOSE, args)

    @workflow.signal(name=SEND)
    async def on_send(self, *args: Any) -> None:
        self._hear(SEND, args)

    @workflow.signal(name=EDIT)
    async def on_edit(self, *args: Any) -> None:
        self._hear(EDIT, args)

    @workflow.signal(name=WITHDRAW)
    async def on_withdraw(self, *args: Any) -> None:
        self._hear(WITHDRAW, args)

    @workflow.signal(name=REVOKE)
    async def on_revoke(self, *args: Any) -> None:
        self._hear(REVOKE, args)

    @workflow.signal(name=APPROVE)
    async def on_approve(self, *args: Any) -> None:
        self._hear(APPROVE, args)

    @workflow.signal(name=DENY)
    async def on_deny(self, *args: Any) -> None:
        self._hear(DENY, args)

    @workflow.signal(name=ANSWER)
    async def on_answer(self, *args: Any) -> None:
        self._hear(ANSWER, args)

    @workflow.signal(name=INTERRUPT)
    async def on_interrupt(self, *args: Any) -> None:
        self._hear(INTERRUPT, args)

    @workflow.signal(name=CLOSE)
    async def on_close(self, *args: Any) -> None:
        self._hear(CLOSE, args)

    @workflow.signal(dynamic=True)
    async def on_unknown(self, name: str, args: Sequence[RawValue]) -> None:
        workflow.logger.warning("A signal of an unknown name was ignored", extra={"signal": name})

    @workflow.query(name=SUMMARY)
    def summary(self) -> RunSummary:
        return summary(self._state())

    @workflow.query(name=OPEN_REQUESTS)
    def open_requests(self) -> OpenRequests:
        return open_requests(self._state())

    @workflow.query(name=TRANSCRIPT)
    def transcript(self, *args: Any) -> TranscriptPage:
        return transcript_page(self._state(), _start_index(args))

    def _state(self) -> State:
        if self._engine is None:
            raise ApplicationError("The run has no state: its start request cannot be read.", non_retryable=True)
        return self._engine.state

    def _check(self, kind: str, args: tuple[Any, ...]) -> None:
        try:
            refused = refusal(self._state(), read_order(kind, args))
        except InvalidInputError as error:
            refused = str(error)
        if refused:
            raise ApplicationError(refused, type="OrderRefused", non_retryable=True)

    def _take(self, order: Order) -> Receipt:
        engine = self._engine
        assert engine is not None, "the validator has let no order pass without an engine"
        receipt = receipt_for(engine.state, order)
        engine.feed(Received(at=workflow.now(), order=order))
        return receipt

    def _hear(self, kind: str, args: tuple[Any, ...]) -> None:
        """A signal harms nothing, whatever it holds: what cannot be read or used is logged and left."""
        try:
            order = read_order(kind, args)
        except InvalidInputError as error:
            _ignored(kind, str(error))
            return
        if self._engine is not None:
            if refused := refusal(self._engine.state, order):
                _ignored(kind, refused)
            self._engine.feed(Received(at=workflow.now(), order=order))


def _ignored(kind: str, reason: str) -> None:
    workflow.logger.warning("A signal was ignored", extra={"signal": kind, "reason": reason})


def _stops_here(engine: Engine) -> bool:
    return engine.fatal is not None or engine.handing_over or ended(engine.state)


async def _errands_done(engine: Engine) -> None:
    """Let arrive what others were told at the last moment: the server drops the activities of a run that is over."""
    if not engine.errands_done:
        with contextlib.suppress(asyncio.TimeoutError, asyncio.CancelledError):
            await workflow.wait_condition(lambda: engine.errands_done, timeout=LAST_ERRANDS)


def _start_index(args: tuple[Any, ...]) -> int:
    value = args[0].get("start", 0) if args and isinstance(args[0], dict) else (args[0] if args else 0)
    return value if isinstance(value, int) else 0


def _run_failure(state: State) -> ApplicationError:
    last = state.last_turn
    failure = state.failure or (last.failure if last else None)
    if failure is None:
        end = last.end if last else "failed"
        failure = Failure(kind="internal", message=f"The turn ended {end}.", attribution="perdure")
    return ApplicationError(failure.message, failure, type=failure.kind, non_retryable=True)


def _as_failure(error: Exception) -> ApplicationError:
    unknown = Failure(kind="internal", message=bounded(f"{type(error).__name__}: {error}"))
    failure = error.failure() if isinstance(error, PerdureError) else unknown
    return ApplicationError(failure.message, failure, type=failure.kind, non_retryable=True)
