"""The client: what applications use to start runs, follow them, and tell them something."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import JsonValue
from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import CancelledError as RunCanceled
from temporalio.service import RPCError

from perdure.client.asking import check_order, startable
from perdure.client.delivery import deliver
from perdure.client.feed import Feed, read_history
from perdure.client.grants import QUERY_WITHIN, Grants
from perdure.client.kinds import check_is_run, check_new_run_id
from perdure.client.listing import RunListing, list_runs
from perdure.client.naming import named, of_this_turn
from perdure.client.projection import Projection
from perdure.client.reading import read_as
from perdure.client.rpc import rpc_errors
from perdure.contracts import names
from perdure.contracts.approvals import OpenRequests
from perdure.contracts.brief import brief
from perdure.contracts.errors import RunFailedError, ServerUnavailableError
from perdure.contracts.events import AnyEvent, Position
from perdure.contracts.messages import Message, UserPart
from perdure.contracts.requests import (
    Answer,
    Approve,
    Cancel,
    Close,
    Deny,
    Edit,
    Interrupt,
    Order,
    Receipt,
    Remember,
    Revoke,
    RunRequest,
    Send,
    Withdraw,
)
from perdure.contracts.sizes import check_size
from perdure.contracts.state import RunOutput, RunSummary
from perdure.workflows.failures import failure_of

R = TypeVar("R")


class Client:
    """A connection to the server that runs live on. Make one with `connect` or `wrap`; share it freely.

    Temporal's native library sometimes aborts a Python process that ends, after all work is done (exit code 134 or
    139): where the exit code counts, flush the streams and leave by `os._exit`.
    """

    def __init__(self, temporal: TemporalClient, *, task_queue: str = names.DEFAULT_TASK_QUEUE) -> None:
        self._temporal = temporal
        self._task_queue = task_queue
        self._feeds: dict[str, Feed] = {}

    @classmethod
    async def connect(
        cls,
        address: str = "localhost:7233",
        *,
        namespace: str = "default",
        task_queue: str = names.DEFAULT_TASK_QUEUE,
        within: timedelta = QUERY_WITHIN,
    ) -> Client:
        """Connect to a Temporal server. Raises ServerUnavailableError when none answers ``within`` that time."""
        try:
            # The SDK's own limit holds for the connection alone: what takes it and says nothing would be waited for.
            async with asyncio.timeout(within.total_seconds()):
                temporal = await TemporalClient.connect(
                    address, namespace=namespace, data_converter=pydantic_data_converter, connect_timeout=within
                )
        except TimeoutError:
            raise ServerUnavailableError(address, f"no answer within {within.total_seconds():g} s") from None
        except (RuntimeError, RPCError, ValueError) as error:
            raise ServerUnavailableError(address) from error
        return cls(temporal, task_queue=task_queue)

    @classmethod
    def wrap(cls, temporal: TemporalClient, *, task_queue: str = names.DEFAULT_TASK_QUEUE) -> Client:
        """Use a Temporal client that is connected already (TLS, Temporal Cloud). It must use the pydantic converter."""
        return cls(temporal, task_queue=task_queue)

    @property
    def address(self) -> str:
        """Where the server is."""
        return self._temporal.service_client.config.target_host

    @property
    def grants(self) -> Grants:
        """What is remembered for agents, users and runs, to be listed and taken back."""
        return Grants(self._temporal)

    async def start(
        self, request: RunRequest | str, *, run_id: str | None = None, output: type[Any] | None = None
    ) -> str:
        """Start a run and return its id; a bare string is its message.

        ``output`` is the type that the output must have (a pydantic model, a dataclass, a list of them …): the model is
        held to its schema, and `result` reads it.

        Raises RunAlreadyRunningError when a run of that id is running (there are never two loops of one id), and
        InvalidInputError when the request or the id cannot be used. An id whose run has ended may be used again.
        """
        asked = startable(request, output)
        chosen = f"run-{uuid.uuid4().hex[:12]}" if run_id is None else run_id
        check_new_run_id(chosen)
        with rpc_errors(self.address, chosen):
            await self._temporal.start_workflow(
                names.AGENT_RUN,
                brief(asked),
                id=chosen,
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                static_summary=asked.message[:120],
            )
        return chosen

    async def events(self, run_id: str, *, after: Position | None = None, live: bool = True) -> AsyncIterator[AnyEvent]:
        """The events of a run: all of them, or those behind ``after``, then the coming ones; ends with the run.

        Works on closed runs without a worker. With ``live`` there are also `TextArrived` and `Retrying`, which are not
        recorded. A subscriber that stalls or raises affects nobody. Raises RunNotFoundError.
        """
        feed = self._feeds.get(run_id)
        if feed is None or feed.idle:
            feed = self._feeds[run_id] = Feed(self._temporal, run_id)
        try:
            async for event in feed.subscribe(after, live=live):
                yield event
        finally:
            if feed.idle and self._feeds.get(run_id) is feed:
                del self._feeds[run_id]

    async def send(
        self,
        run_id: str,
        message: str,
        *,
        attachments: tuple[UserPart, ...] = (),
        client_key: str = "",
        reply_to: str = "",
        actor: str = "",
    ) -> Receipt:
        """Send a further message; it is delivered at the next model call, after the results of open calls.

        Raises OrderRefusedError when the run is closing or has ended. The same ``client_key`` twice is one message.
        """
        order = Send(message=message, attachments=attachments, client_key=client_key, reply_to=reply_to, actor=actor)
        return await self.tell(run_id, order)

    async def tell(self, run_id: str, order: Order) -> Receipt:
        """Give the run any order; the methods below make them.

        Raises InvalidInputError for one that is too large, OrderRefusedError, RunNotFoundError.

        While no worker serves the run, the order is recorded and applied when one comes; the receipt then says so.
        """
        check_order(order)
        with rpc_errors(self.address, run_id):
            if order.kind == "interrupt" and order.turn is None:
                order = of_this_turn(await (await read_history(self._temporal, run_id)).foreseen(), order)
            return await deliver(self._temporal, run_id, order)

    async def edit(self, run_id: str, message_id: str, message: str, *, actor: str = "") -> Receipt:
        """Change a message that waits for delivery. Raises OrderRefusedError when it was delivered."""
        return await self.tell(run_id, Edit(message_id=message_id, message=message, actor=actor))

    async def withdraw(self, run_id: str, message_id: str, *, reason: str = "", actor: str = "") -> Receipt:
        """Take back a message; one of the turn that runs stops the turn. Raises OrderRefusedError."""
        return await self.tell(run_id, Withdraw(message_id=message_id, reason=reason, actor=actor))

    async def approve(
        self,
        run_id: str,
        call_id: str = "",
        *,
        digest: str = "",
        arguments: dict[str, JsonValue] | None = None,
        remember: Remember | None = None,
        reason: str = "",
        actor: str = "",
    ) -> Receipt:
        """Let a waiting call run: the named one, or the only one that waits now. `tell` takes an Approve of several.

        ``arguments`` replace the call's; the edited call is judged again. ``remember`` makes a grant of the approval.
        Raises OrderRefusedError when nothing such waits, several do, or ``actor`` may not approve it.
        """
        order = Approve(
            call_id=call_id, digest=digest, arguments=arguments, remember=remember, reason=reason, actor=actor
        )
        return await self._respond(run_id, order)

    async def deny(
        self, run_id: str, call_id: str = "", *, digest: str = "", reason: str = "", actor: str = ""
    ) -> Receipt:
        """Refuse a waiting call, named as in `approve`. The model reads ``reason``. Raises OrderRefusedError."""
        return await self._respond(run_id, Deny(call_id=call_id, digest=digest, reason=reason, actor=actor))

    async def answer(
        self, run_id: str, answer: str | tuple[str, ...], *, call_id: str = "", actor: str = ""
    ) -> Receipt:
        """Answer an open question; without ``call_id`` the only one that is open now. Raises OrderRefusedError."""
        return await self._respond(run_id, Answer(answer=answer, call_id=call_id, actor=actor))

    async def revoke(self, run_id: str, grant_id: str, *, reason: str = "", actor: str = "") -> Receipt:
        """Take a grant of the run back. Raises OrderRefusedError when there is none of that id."""
        return await self.tell(run_id, Revoke(grant_id=grant_id, reason=reason, actor=actor))

    async def interrupt(self, run_id: str, *, turn: int | None = None, reason: str = "", actor: str = "") -> Receipt:
        """Stop the turn that is running, or only turn ``turn``. Raises OrderRefusedError on a resting run."""
        return await self.tell(run_id, Interrupt(turn=turn, reason=reason, actor=actor))

    async def close(self, run_id: str, *, reason: str = "", actor: str = "") -> Receipt:
        """End the run after the turn that is running. Raises OrderRefusedError when it has ended."""
        return await self.tell(run_id, Close(reason=reason, actor=actor))

    async def cancel(self, run_id: str, *, reason: str = "", actor: str = "") -> None:
        """End the run now: open calls are stopped and settled. Raises RunNotFoundError."""
        order = Cancel(reason=reason, actor=actor)
        check_size(order)
        handle = self._temporal.get_workflow_handle(run_id)
        with rpc_errors(self.address, run_id):
            check_is_run(run_id, (await handle.describe()).workflow_type)
            await handle.cancel(reason=str(order))

    async def output(self, run_id: str) -> RunOutput:
        """Wait for the run's end and return its output. Raises RunFailedError with the cause, RunNotFoundError."""
        handle = self._temporal.get_workflow_handle(run_id, result_type=RunOutput)
        with rpc_errors(self.address, run_id):
            check_is_run(run_id, (await handle.describe()).workflow_type)
            try:
                output: RunOutput = await handle.result()
            except WorkflowFailureError as error:
                if isinstance(error.cause, RunCanceled):
                    return RunOutput(run_id=run_id, status="canceled", end="canceled")
                raise RunFailedError(run_id, failure_of(error.cause)) from None
        return output

    async def result(self, run_id: str, kind: type[R]) -> R:
        """Wait for the run's end and return its output as ``kind``, which it was started with as ``output``.

        Raises RunFailedError, also when the output never came to fit (turn end ``invalid_output``), and
        InvalidInputError when the run was asked for something else, or was stopped before it had an output.
        """
        return read_as(await self.output(run_id), kind)

    async def summary(self, run_id: str) -> RunSummary:
        """The run at a glance, asked of its worker. Raises OperatorError when no worker answers."""
        return await self._query(run_id, names.SUMMARY, RunSummary)

    async def open_requests(self, run_id: str) -> OpenRequests:
        """What waits for a human, asked of its worker. Raises OperatorError when no worker answers."""
        return await self._query(run_id, names.OPEN_REQUESTS, OpenRequests)

    async def history(self, run_id: str) -> Projection:
        """What the run's history says of it now; works without a worker, also on closed runs."""
        with rpc_errors(self.address, run_id):
            return await read_history(self._temporal, run_id)

    async def transcript(self, run_id: str) -> tuple[Message, ...]:
        """All messages of the run so far, from its history: works without a worker, also on closed runs."""
        state = (await self.history(run_id)).state
        return state.messages if state else ()

    async def list(self, *, query: str = "", limit: int = 50) -> tuple[RunListing, ...]:
        """The newest runs. ``query`` is a Temporal list filter, such as ``PerdureStatus = 'waiting_approval'``."""
        with rpc_errors(self.address):
            return await list_runs(self._temporal, query, limit)

    async def _respond(self, run_id: str, order: Approve | Deny | Answer) -> Receipt:
        if not order.call_id:
            order = named(await (await self.history(run_id)).foreseen(), order)
        return await self.tell(run_id, order)

    async def _query(self, run_id: str, name: str, result_type: type[R]) -> R:
        handle = self._temporal.get_workflow_handle(run_id)
        with rpc_errors(self.address, run_id):
            answer: R = await handle.query(name, result_type=result_type, rpc_timeout=QUERY_WITHIN)
            return answer
