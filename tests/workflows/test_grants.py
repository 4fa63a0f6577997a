"""The book that keeps grants, on a real server, told what anybody may tell it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from perdure.contracts.approvals import Grant
from perdure.contracts.continuation import LARGEST_GRANT, GrantPages
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT, GRANT_BOOK, GRANTS, REVOKE
from perdure.contracts.requests import Receipt, Revoke
from perdure.worker.converter import data_converter
from perdure.worker.worker import sandbox
from perdure.workflows.grants import MOST_GRANTS, GrantBook
from tests.servers import running_server, unique

NOW = datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Book:
    """A book under test, as any Temporal client uses it."""

    agent: str
    handle: WorkflowHandle[Any, Any]

    def grant(self, number: int = 1, **wishes: Any) -> Grant:
        given = {"subject": self.agent, "granted_at": NOW, "actor": "ada", **wishes}
        return Grant(grant_id=f"run/g{number}", tool="publish", level="agent", **given)

    async def write(self, *grants: Any) -> None:
        for grant in grants:
            await self.handle.signal(GRANT, grant)

    async def revoke(self, grant_id: str) -> Receipt:
        order = Revoke(grant_id=grant_id, actor="bob")
        receipt: Receipt = await self.handle.execute_update(REVOKE, order, result_type=Receipt)
        return receipt

    async def read(self) -> tuple[Grant, ...]:
        grants: tuple[Grant, ...] = await self.handle.query(GRANTS, result_type=tuple[Grant, ...])
        return grants

    async def ids(self) -> list[str]:
        return [grant.grant_id for grant in await self.read()]


async def opened(client: Client, task_queue: str, *pages: Any) -> Book:
    agent = unique("agent")
    handle = await client.start_workflow(
        GRANT_BOOK, args=pages, id=grant_book_id("agent", agent), task_queue=task_queue
    )
    return Book(agent, handle)


def serving(client: Client, task_queue: str) -> Worker:
    return Worker(client, task_queue=task_queue, workflows=[GrantBook], workflow_runner=sandbox())


@pytest.fixture
async def book(temporal_client: Client, task_queue: str) -> AsyncIterator[Book]:
    async with serving(temporal_client, task_queue):
        made = await opened(temporal_client, task_queue)
        yield made
        await made.handle.terminate()


async def test_a_grant_stands_in_the_book_until_it_is_revoked(book: Book) -> None:
    first, second = book.grant(1, reason="harmless"), book.grant(2)
    await book.write(first, second)
    assert await book.read() == (first, second)
    assert await book.revoke("run/g1") == Receipt(accepted=True, ids=("run/g1",))
    assert await book.read() == (second,)


async def test_the_same_grant_twice_is_one(book: Book) -> None:
    await book.write(book.grant(), book.grant())
    assert await book.ids() == ["run/g1"]


async def test_a_signal_that_comes_late_does_not_bring_a_revoked_grant_back(book: Book) -> None:
    await book.write(book.grant())
    await book.revoke("run/g1")
    await book.write(book.grant())
    assert await book.ids() == []


async def test_a_grant_that_is_revoked_before_it_came_never_counts(book: Book) -> None:
    await book.handle.signal(REVOKE, "run/g1")
    await book.write(book.grant())
    assert await book.ids() == []


async def test_an_unknown_grant_cannot_be_revoked_and_leaves_no_trace(book: Book) -> None:
    await book.write(book.grant())
    assert await book.ids() == ["run/g1"]
    before = (await book.handle.describe()).history_length
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await book.revoke("run/g7")
    assert "There is no grant run/g7" in str(refused.value.cause)
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await book.handle.execute_update(REVOKE)
    assert "grant_id" in str(refused.value.cause)
    assert (await book.handle.describe()).history_length == before


async def test_what_cannot_be_read_harms_nothing_and_grants_nothing(book: Book) -> None:
    good = book.grant().model_dump(mode="json")
    for args in (
        [],
        [good, good],
        ["publish"],
        [None],
        [[good]],
        [{**good, "tool": None}],
        [{**good, "subject": "another"}],
        [{**good, "level": "user"}],
        [{**good, "level": "run"}],
        [{**good, "granted_at": "2030-01-01T00:00:00"}],
        [{**good, "expires_at": "2030-01-01T00:00:00"}],
        [{**good, "reason": "x" * LARGEST_GRANT}],
    ):
        await book.handle.signal(GRANT, args=args)
    await book.handle.signal("no_such_signal", "x")
    await book.handle.signal(REVOKE, args=[])
    await book.handle.signal(REVOKE, {"grant_id": "x" * 10_000})
    assert await book.ids() == []
    await book.write(good)
    assert await book.ids() == ["run/g1"]


async def test_in_a_full_book_the_oldest_grant_makes_room(temporal_client: Client, task_queue: str) -> None:
    agent = unique("agent")
    held = [
        Grant(grant_id=f"g{number}", tool="publish", level="agent", subject=agent, granted_at=NOW)
        for number in range(MOST_GRANTS)
    ]
    async with serving(temporal_client, task_queue):
        handle = await temporal_client.start_workflow(
            GRANT_BOOK,
            GrantPages(grants=tuple(held)),
            id=grant_book_id("agent", agent),
            task_queue=task_queue,
        )
        full = Book(agent, handle)
        await full.write(full.grant(1))
        assert await full.ids() == [*(f"g{number}" for number in range(1, MOST_GRANTS)), "run/g1"]
        # Long ones count by their size.
        await full.write(*(full.grant(number, reason="x" * (LARGEST_GRANT - 500)) for number in range(2, 40)))
        grants = await full.read()
        assert len(grants) < 40
        assert grants[-1].grant_id == "run/g39"
        await handle.terminate()


async def test_a_book_that_is_started_with_anything_else_fails_visibly(
    temporal_client: Client, task_queue: str
) -> None:
    async with serving(temporal_client, task_queue):
        made = await opened(temporal_client, task_queue, {"grants": "many"})
        with pytest.raises(WorkflowFailureError) as failed:
            await made.handle.result()
    assert "started without input" in str(failed.value.cause)


async def test_an_expired_grant_leaves_the_book(time_skipping: WorkflowEnvironment, task_queue: str) -> None:
    async with serving(time_skipping.client, task_queue):
        made = await opened(time_skipping.client, task_queue)
        now = await time_skipping.get_current_time()
        await made.write(
            made.grant(1, granted_at=now, expires_at=now + timedelta(hours=2)),
            made.grant(2, granted_at=now, expires_at=now + timedelta(hours=1)),
            made.grant(3, granted_at=now),
        )
        assert await made.ids() == ["run/g1", "run/g2", "run/g3"]
        await time_skipping.sleep(timedelta(minutes=90))
        assert await made.ids() == ["run/g1", "run/g3"]
        await time_skipping.sleep(timedelta(hours=1))
        assert await made.ids() == ["run/g3"]
        await made.handle.terminate()


async def test_a_book_goes_on_when_its_history_has_grown_long(task_queue: str) -> None:
    with running_server("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=25") as address:
        client = await Client.connect(address, data_converter=data_converter())
        async with serving(client, task_queue):
            made = await opened(client, task_queue)
            first = (await made.handle.describe()).run_id
            for number in range(1, 13):
                await made.write(made.grant(number))
                if number % 2:
                    await made.revoke(f"run/g{number}")
            # What comes late, comes to another execution than what it is late for.
            await made.write(made.grant(1), made.grant(2))
            assert await made.ids() == [f"run/g{number}" for number in range(2, 13, 2)]
            assert (await made.handle.describe()).run_id != first
