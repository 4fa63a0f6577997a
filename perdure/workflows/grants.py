"""`GrantBook`: the grants of one agent or one user, which outlive the runs that they were made in.

A workflow and no table of ours: Temporal keeps it, hands it to whatever worker asks, and records who granted and who
revoked what. It waits for signals for ever, and hands over to a fresh execution when its history has grown long.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NoReturn

from pydantic import ValidationError
from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from perdure.contracts.approvals import Grant
from perdure.contracts.continuation import LARGEST_GRANT, GrantPages
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT, GRANT_BOOK, GRANTS, REVOKE
from perdure.contracts.requests import Receipt, Revoke
from perdure.workflows.orders import read_order

MOST_GRANTS = 500
MOST_BYTES = 512 * 1024
"""Of all grants together: the answer to a query and a hand-over end at 2 MB. The oldest make room for new ones."""

MOST_REVOKED = 500
"""Revocations that are kept."""

LONGEST_ID = 1_200
"""Characters of a grant's id at most: it begins with the id of a run, which has up to 1,000."""

SHOWN = 20
"""Grants that the current details list."""

LONGEST_SLEEP = timedelta(days=30)


@workflow.defn(name=GRANT_BOOK)
class GrantBook:
    """A book of grants as a workflow. Input: nothing, or the `GrantPages` of an earlier execution."""

    @workflow.init
    def __init__(self, *args: Any) -> None:
        # Not in run(): signals that came before the first task are handled before run() begins.
        self._grants: list[Grant] = []
        self._revoked: dict[str, datetime] = {}
        self._unreadable = ""
        try:
            pages = GrantPages.model_validate(args[0]) if args else GrantPages()
        except ValidationError:
            self._unreadable = "A grant book is started without input; this one got something that is no grant book."
        else:
            self._grants = list(pages.grants)
            self._revoked = dict(pages.revoked)

    @workflow.run
    async def run(self, *args: Any) -> NoReturn:
        if self._unreadable:
            raise ApplicationError(self._unreadable, non_retryable=True)
        while not self._full():
            self._drop_expired()
            self._show()
            await self._rest(self._soonest())
        await workflow.wait_condition(workflow.all_handlers_finished)
        workflow.continue_as_new(GrantPages(grants=tuple(self._grants), revoked=self._revoked))

    async def _rest(self, until: datetime | None) -> None:
        """Wait until the next grant expires, another one is the next, or the history has grown long."""
        with contextlib.suppress(asyncio.TimeoutError):
            await workflow.wait_condition(
                lambda: self._full() or self._soonest() != until,
                timeout=None if until is None else min(max(until - workflow.now(), timedelta(0)), LONGEST_SLEEP),
            )

    @workflow.signal(name=GRANT)
    async def grant(self, *args: Any) -> None:
        """Write a `Grant` into the book.

        The same grant twice is one, and one that was revoked stays so.
        """
        try:
            grant = _read_grant(args)
        except InvalidInputError as error:
            workflow.logger.warning("A grant was ignored", extra={"reason": str(error)})
            return
        known = any(held.grant_id == grant.grant_id for held in self._grants)
        if not known and grant.grant_id not in self._revoked:
            self._grants.append(grant)
            self._make_room()
            self._show()

    @workflow.update(name=REVOKE)
    async def revoke(self, *args: Any) -> Receipt:
        """Take the grant of a `Revoke` back. Refused when there is none of that id."""
        return self._strike(_read_revoke(args))

    @revoke.validator
    def _may_revoke(self, *args: Any) -> None:
        try:
            order = _read_revoke(args)
        except InvalidInputError as error:
            raise ApplicationError(str(error), type="OrderRefused", non_retryable=True) from None
        if not any(grant.grant_id == order.grant_id for grant in self._grants):
            why = f"There is no grant {order.grant_id}: it was revoked, it expired, or it never was."
            raise ApplicationError(why, type="OrderRefused", non_retryable=True)

    @workflow.signal(name=REVOKE)
    async def on_revoke(self, *args: Any) -> None:
        """The same, for simple senders. An id that is not known yet is struck all the same: its grant may be late."""
        try:
            self._strike(_read_revoke(args))
        except InvalidInputError as error:
            workflow.logger.warning("A signal was ignored", extra={"signal": REVOKE, "reason": str(error)})

    @workflow.signal(dynamic=True)
    async def on_unknown(self, name: str, args: Sequence[RawValue]) -> None:
        workflow.logger.warning("A signal of an unknown name was ignored", extra={"signal": name})

    @workflow.query(name=GRANTS)
    def grants(self, *args: Any) -> tuple[Grant, ...]:
        """The grants that hold, oldest first."""
        return tuple(self._grants)

    def _strike(self, order: Revoke) -> Receipt:
        self._grants = [grant for grant in self._grants if grant.grant_id != order.grant_id]
        self._revoked.pop(order.grant_id, None)
        self._revoked[order.grant_id] = workflow.now()
        while len(self._revoked) > MOST_REVOKED:
            del self._revoked[next(iter(self._revoked))]
        self._show()
        return Receipt(accepted=True, ids=(order.grant_id,))

    def _make_room(self) -> None:
        sizes = [_size(grant) for grant in self._grants]
        while len(sizes) > MOST_GRANTS or sum(sizes) > MOST_BYTES:
            del self._grants[0], sizes[0]

    def _drop_expired(self) -> None:
        now = workflow.now()
        self._grants = [grant for grant in self._grants if grant.expires_at is None or grant.expires_at > now]

    def _show(self) -> None:
        lines = [f"{grant.grant_id}: {grant.tool}" for grant in self._grants]
        workflow.set_current_details("\n".join([f"Grants: {len(lines)}", *lines[:SHOWN]]))

    def _soonest(self) -> datetime | None:
        return min((grant.expires_at for grant in self._grants if grant.expires_at), default=None)

    def _full(self) -> bool:
        return workflow.info().is_continue_as_new_suggested()


def _read_grant(args: tuple[Any, ...]) -> Grant:
    if len(args) != 1:
        raise InvalidInputError(f"A grant is one input, an object; there were {len(args)}.")
    try:
        grant = Grant.model_validate(args[0])
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, problem["loc"])) or "input" for problem in error.errors())
        raise InvalidInputError(f"The grant cannot be read: {fields}.") from None
    if grant_book_id(grant.level, grant.subject) != workflow.info().workflow_id:
        raise InvalidInputError(f"The grant is for {grant.level} {grant.subject!r}, whose book is another one.")
    if any(time is not None and time.tzinfo is None for time in (grant.granted_at, grant.expires_at)):
        raise InvalidInputError("The times of the grant need a time zone.")
    if _size(grant) > LARGEST_GRANT:
        raise InvalidInputError(f"The grant has {_size(grant):,} bytes; at most {LARGEST_GRANT:,} are kept.")
    return grant


def _read_revoke(args: tuple[Any, ...]) -> Revoke:
    order = read_order(REVOKE, args)
    assert isinstance(order, Revoke)
    if len(order.grant_id) > LONGEST_ID:
        raise InvalidInputError(f"No grant has an id of more than {LONGEST_ID:,} characters.")
    return order


def _size(grant: Grant) -> int:
    return len(grant.model_dump_json().encode())
