"""Grants as people see them: what is remembered for an agent, a user or a run, and taking it back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowQueryRejectedError
from temporalio.common import QueryRejectCondition, WorkflowIDConflictPolicy

from perdure.client.delivery import deliver
from perdure.client.rpc import rpc_errors
from perdure.contracts.approvals import Grant, GrantLevel, OpenRequests
from perdure.contracts.errors import OperatorError, OrderRefusedError, RunNotFoundError
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT_BOOK, GRANTS, GRANTS_QUEUE, OPEN_REQUESTS, REVOKE
from perdure.contracts.record import Record
from perdure.contracts.requests import Receipt, Revoke
from perdure.contracts.sizes import check_size

QUERY_WITHIN = timedelta(seconds=10)
"""How long a worker may take to answer a question."""

EACH_WITHIN = timedelta(seconds=3)
"""How long each book may take when all are asked, ``AT_ONCE`` at a time."""

AT_ONCE = 20


class Remembered(Record):
    """The grants of all books. ``silent`` are the ids of books that did not answer: no worker serves them now."""

    grants: tuple[Grant, ...] = ()
    silent: tuple[str, ...] = ()


class Grants:
    """The grants on a server. Got from ``Client.grants``.

    Lists hold what counts now, oldest first, and need a worker to answer: OperatorError when none does.
    """

    def __init__(self, temporal: TemporalClient) -> None:
        self._temporal = temporal

    async def of_agent(self, agent: str) -> tuple[Grant, ...]:
        """What is remembered for every run of the agent."""
        return await self._of_book(grant_book_id("agent", agent))

    async def of_user(self, user: str) -> tuple[Grant, ...]:
        """What is remembered for every run that the user starts."""
        return await self._of_book(grant_book_id("user", user))

    async def of_run(self, run_id: str) -> tuple[Grant, ...]:
        """What was remembered in the run, for it alone or for others too. Raises RunNotFoundError."""
        handle = self._temporal.get_workflow_handle(run_id)
        with rpc_errors(self._address, run_id):
            answer = await handle.query(OPEN_REQUESTS, result_type=OpenRequests, rpc_timeout=QUERY_WITHIN)
        return holding(answer.grants)

    async def of_all(self) -> Remembered:
        """What is remembered for any agent and any user. A book that has just begun may be missing."""
        with rpc_errors(self._address):
            books = self._temporal.list_workflows(f"WorkflowType = '{GRANT_BOOK}' AND ExecutionStatus = 'Running'")
            ids = sorted([book.id async for book in books])
        at_once = asyncio.Semaphore(AT_ONCE)

        async def read(book_id: str) -> tuple[Grant, ...] | None:
            async with at_once:
                try:
                    return await self._of_book(book_id, within=EACH_WITHIN)
                except OperatorError:
                    return None

        found = dict(zip(ids, await asyncio.gather(*map(read, ids)), strict=True))
        return Remembered(
            grants=tuple(grant for grants in found.values() for grant in grants or ()),
            silent=tuple(book_id for book_id, grants in found.items() if grants is None),
        )

    async def revoke(
        self, level: GrantLevel, subject: str, grant_id: str, *, reason: str = "", actor: str = ""
    ) -> Receipt:
        """Take a grant back, from the next judging on: ``subject`` is the agent, the user or the run that it is for.

        Without a worker it is recorded and taken in when one comes; the receipt then says so. Raises OrderRefusedError
        when there is no such grant.
        """
        order = Revoke(grant_id=grant_id, reason=reason, actor=actor)
        if level == "run":
            return await self._tell(subject, order, to_run=True)
        book_id = grant_book_id(level, subject)
        refused = None
        try:
            receipt = await self._tell(book_id, order, to_run=False)
        except RunNotFoundError:
            refused = OrderRefusedError(f"Nothing is remembered for the {level} {subject}.")
        except OrderRefusedError as error:
            refused = error
        # The run that the grant was made in has its own copy, so that it counts there at once.
        own = await self._tell_origin(order)
        if refused is None:
            return receipt
        if own is None:
            raise refused
        # The grant is still on its way: its book has to know before it comes.
        with rpc_errors(self._address, book_id):
            await self._temporal.start_workflow(
                GRANT_BOOK,
                id=book_id,
                task_queue=GRANTS_QUEUE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                start_signal=REVOKE,
                start_signal_args=[order],
            )
        return own

    async def _tell_origin(self, order: Revoke) -> Receipt | None:
        run_id = order.grant_id.rpartition("/")[0]
        if not run_id:
            return None
        try:
            return await self._tell(run_id, order, to_run=True)
        except (OrderRefusedError, RunNotFoundError):
            return None

    @property
    def _address(self) -> str:
        return self._temporal.service_client.config.target_host

    async def _tell(self, workflow_id: str, order: Revoke, *, to_run: bool) -> Receipt:
        check_size(order)
        with rpc_errors(self._address, workflow_id):
            return await deliver(self._temporal, workflow_id, order, to_run=to_run)

    async def _of_book(self, book_id: str, *, within: timedelta = QUERY_WITHIN) -> tuple[Grant, ...]:
        handle = self._temporal.get_workflow_handle(book_id)
        try:
            with rpc_errors(self._address, book_id):
                try:
                    answer: tuple[Grant, ...] = await handle.query(
                        GRANTS,
                        result_type=tuple[Grant, ...],
                        reject_condition=QueryRejectCondition.NOT_OPEN,
                        rpc_timeout=within,
                    )
                except WorkflowQueryRejectedError:
                    return ()
        except RunNotFoundError:
            return ()
        return holding(answer)


def holding(grants: tuple[Grant, ...]) -> tuple[Grant, ...]:
    """Those that have not expired."""
    now = datetime.now(UTC)
    return tuple(grant for grant in grants if grant.expires_at is None or grant.expires_at > now)
