"""The grants of agents and users: written into their books, and read from them when calls are judged.

A book is a workflow (`GrantBook`), one for each agent and each user. Nothing is kept here: a query sees every signal
and update that came before it, so a revocation counts from the next judging on.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import structlog
from temporalio.client import Client, WorkflowQueryRejectedError
from temporalio.common import QueryRejectCondition, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.service import RPCError, RPCStatusCode

from perdure.activities.inputs import activity_named
from perdure.activities.posture import posture
from perdure.contracts.approvals import Grant, GrantLevel
from perdure.contracts.continuation import LARGEST_GRANT
from perdure.contracts.errors import GrantNotKeptError, InvalidInputError
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT, GRANT_BOOK, GRANTS, GRANTS_QUEUE, REMEMBER_GRANT

ANSWER_WITHIN = timedelta(seconds=1)
"""How long a book may take to answer before its grants do not count, and the call asks."""

ATTEMPTS = 2
"""When the worker that had a book in memory is gone, the first question is lost on it and the second is not."""

WRITE_WITHIN = timedelta(seconds=10)

log = structlog.get_logger(__name__)


class GrantBooks:
    """The books of one namespace. Every worker serves them, on a queue of their own."""

    def __init__(
        self, client: Client, *, task_queue: str = GRANTS_QUEUE, answer_within: timedelta = ANSWER_WITHIN
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._answer_within = answer_within

    @activity_named(REMEMBER_GRANT)
    async def remember_grant(self, grant: Grant) -> None:
        """Write a grant of level agent or user into its book, which begins with its first grant."""
        with posture():
            _check(grant)
            try:
                book = await self._client.start_workflow(
                    GRANT_BOOK,
                    id=grant_book_id(grant.level, grant.subject),
                    task_queue=self._task_queue,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                    start_signal=GRANT,
                    start_signal_args=[grant],
                    static_summary=f"Grants of the {grant.level} {grant.subject}"[:200],
                    rpc_timeout=WRITE_WITHIN,
                )
                taken_by = (await book.describe(rpc_timeout=WRITE_WITHIN)).workflow_type
            except RPCError as error:
                if error.status is RPCStatusCode.INVALID_ARGUMENT:
                    why = f"The grant {grant.grant_id} cannot be kept: the server takes no workflow of that name."
                    raise InvalidInputError(why) from None
                raise GrantNotKeptError(grant.grant_id, f"the server answered {error.status.name}") from None
            if taken_by != GRANT_BOOK:
                why = f"a workflow of the type {taken_by} has taken the id of its book"
                raise GrantNotKeptError(grant.grant_id, why)

    async def grants(self, agent: str, user: str) -> tuple[Grant, ...]:
        """The grants that hold for runs of the agent that the user started. Never raises.

        What cannot be read grants nothing. Takes ``answer_within`` for each of two attempts at most.
        """
        of_agent, of_user = await asyncio.gather(self._read("agent", agent), self._read("user", user))
        return (*of_agent, *of_user)

    async def _read(self, level: GrantLevel, subject: str) -> tuple[Grant, ...]:
        if not subject:
            return ()
        try:
            grants = await self._asked(grant_book_id(level, subject))
        except Exception as error:  # noqa: BLE001 - whatever keeps a book shut, the call then asks as if there were none
            log.warning("a grant book could not be read: its grants do not count", level=level, error=repr(error)[:200])
            return ()
        now = datetime.now(UTC)
        return tuple(
            grant
            for grant in grants
            if (grant.level, grant.subject) == (level, subject) and (grant.expires_at is None or grant.expires_at > now)
        )

    async def _asked(self, book_id: str) -> tuple[Grant, ...]:
        handle = self._client.get_workflow_handle(book_id)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer: tuple[Grant, ...] = await handle.query(
                    GRANTS,
                    result_type=tuple[Grant, ...],
                    # A book that was ended by hand grants nothing, though it could still be read.
                    reject_condition=QueryRejectCondition.NOT_OPEN,
                    rpc_timeout=self._answer_within,
                )
            except WorkflowQueryRejectedError:
                return ()
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    return ()
                if attempt == ATTEMPTS:
                    raise
            else:
                return answer
        return ()


def _check(grant: Grant) -> None:
    if grant.level == "run" or not grant.subject:
        raise InvalidInputError(f"The grant {grant.grant_id} is for no agent and no user: no other run could use it.")
    size = len(grant.model_dump_json().encode())
    if size > LARGEST_GRANT:
        raise InvalidInputError(
            f"The grant {grant.grant_id} has {size:,} bytes and at most {LARGEST_GRANT:,} are kept for other runs. "
            "Remember a pattern of the arguments instead of all of them."
        )
