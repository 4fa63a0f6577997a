"""Grants as people see them: what is remembered for an agent, a user or a run, and taking it back."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

from temporalio.client import Client as TemporalClient
from temporalio.client import WorkflowQueryRejectedError
from temporalio.common import QueryRejectCondition

from perdure.client.delivery import deliver
from perdure.client.rpc import rpc_errors
from perdure.contracts.approvals import Grant, GrantLevel, OpenRequests
from perdure.contracts.errors import OrderRefusedError, RunNotFoundError
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT_BOOK, GRANTS, OPEN_REQUESTS
from perdure.contracts.requests import Receipt, Revoke

QUERY_WITHIN = timedelta(seconds=10)


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
        return _holding(answer.grants)

    async def of_all(self) -> tuple[Grant, ...]:
        """What is remembered for any agent and any user. A book that has just begun may be missing."""
        found: list[Grant] = []
        with rpc_errors(self._address):
            books = self._temporal.list_workflows(f"WorkflowType = '{GRANT_BOOK}' AND ExecutionStatus = 'Running'")
            ids = [book.id async for book in books]
        for book_id in sorted(ids):
            found += await self._of_book(book_id)
        return tuple(found)

    async def revoke(
        self, level: GrantLevel, subject: str, grant_id: str, *, reason: str = "", actor: str = ""
    ) -> Receipt:
        """Take a grant back, from the next judging on: ``subject`` is the agent, the user or the run that it is for.

        Without a worker it is recorded and taken in when one comes; the receipt then says so. Raises OrderRefusedError
        when there is no such grant.
        """
        order = Revoke(grant_id=grant_id, reason=reason, actor=actor)
        if level == "run":
            return await self._tell(subject, order)
        try:
            receipt = await self._tell(grant_book_id(level, subject), order)
        except RunNotFoundError:
            raise OrderRefusedError(f"Nothing is remembered for the {level} {subject}.") from None
        # The run that the grant was made in has its own copy, so that it counts there at once.
        if origin := grant_id.rpartition("/")[0]:
            with contextlib.suppress(OrderRefusedError, RunNotFoundError):
                await self._tell(origin, order)
        return receipt

    @property
    def _address(self) -> str:
        return self._temporal.service_client.config.target_host

    async def _tell(self, workflow_id: str, order: Revoke) -> Receipt:
        with rpc_errors(self._address, workflow_id):
            return await deliver(self._temporal, workflow_id, order)

    async def _of_book(self, book_id: str) -> tuple[Grant, ...]:
        handle = self._temporal.get_workflow_handle(book_id)
        try:
            with rpc_errors(self._address, book_id):
                try:
                    answer: tuple[Grant, ...] = await handle.query(
                        GRANTS,
                        result_type=tuple[Grant, ...],
                        reject_condition=QueryRejectCondition.NOT_OPEN,
                        rpc_timeout=QUERY_WITHIN,
                    )
                except WorkflowQueryRejectedError:
                    return ()
        except RunNotFoundError:
            return ()
        return _holding(answer)


def _holding(grants: tuple[Grant, ...]) -> tuple[Grant, ...]:
    now = datetime.now(UTC)
    return tuple(grant for grant in grants if grant.expires_at is None or grant.expires_at > now)
