"""Grants written into their books and read from them, on a real server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from perdure.activities.grants import GrantBooks
from perdure.contracts.approvals import Grant
from perdure.contracts.continuation import LARGEST_GRANT
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT, GRANT_BOOK, GRANTS, REVOKE
from perdure.worker.worker import sandbox
from perdure.workflows.grants import GrantBook
from tests.servers import unique

NOW = datetime.now(UTC)


def grant(subject: str, **wishes: Any) -> Grant:
    given = {"level": "agent", "granted_at": NOW, **wishes}
    return Grant(grant_id="run/g1", tool="publish", subject=subject, **given)


def serving(client: Client, task_queue: str) -> Worker:
    return Worker(client, task_queue=task_queue, workflows=[GrantBook], workflow_runner=sandbox())


async def remember(books: GrantBooks, *grants: Grant) -> None:
    for each in grants:
        await ActivityEnvironment().run(books.remember_grant, each)


async def test_grants_of_the_agent_and_of_the_user_are_found_and_no_others(
    temporal_client: Client, task_queue: str
) -> None:
    agent, user = unique("agent"), unique("user")
    books = GrantBooks(temporal_client, task_queue=task_queue)
    of_agent, of_user = grant(agent), grant(user, level="user")
    async with serving(temporal_client, task_queue):
        assert await books.grants(agent, user) == ()
        await remember(books, of_agent, of_agent, of_user)
        assert await books.grants(agent, user) == (of_agent, of_user)
        assert await books.grants(agent, "") == (of_agent,)
        # The same name at the other level is somebody else.
        assert await books.grants(user, agent) == ()


async def test_a_grant_counts_neither_when_it_has_expired_nor_when_it_is_revoked(
    temporal_client: Client, task_queue: str
) -> None:
    agent = unique("agent")
    books = GrantBooks(temporal_client, task_queue=task_queue)
    async with serving(temporal_client, task_queue):
        past = grant(agent, expires_at=NOW - timedelta(seconds=1)).model_copy(update={"grant_id": "run/g2"})
        await remember(books, grant(agent), past)
        assert await books.grants(agent, "") == (grant(agent),)
        await temporal_client.get_workflow_handle(grant_book_id("agent", agent)).signal(REVOKE, "run/g1")
        assert await books.grants(agent, "") == ()


async def test_a_book_that_was_ended_by_hand_grants_nothing_and_a_new_one_begins(
    temporal_client: Client, task_queue: str
) -> None:
    agent = unique("agent")
    books = GrantBooks(temporal_client, task_queue=task_queue)
    async with serving(temporal_client, task_queue):
        await remember(books, grant(agent))
        assert await books.grants(agent, "") == (grant(agent),)
        await temporal_client.get_workflow_handle(grant_book_id("agent", agent)).terminate()
        assert await books.grants(agent, "") == ()
        later = grant(agent, reason="again")
        await remember(books, later)
        assert await books.grants(agent, "") == (later,)


async def test_a_book_that_does_not_answer_in_time_grants_nothing(temporal_client: Client, task_queue: str) -> None:
    agent = unique("agent")
    books = GrantBooks(temporal_client, task_queue=task_queue, answer_within=timedelta(milliseconds=50))
    await remember(books, grant(agent))
    assert await books.grants(agent, "") == ()


@workflow.defn(name=GRANT_BOOK)
class Stranger:
    """Something that goes by a book's name and tells grants of somebody else, or nonsense."""

    @workflow.run
    async def run(self, told: Any) -> None:
        self.told = told
        await workflow.wait_condition(lambda: False)

    @workflow.signal(name=GRANT)
    async def grant(self, told: Any) -> None:
        pass

    @workflow.query(name=GRANTS)
    def grants(self) -> Any:
        return self.told


@pytest.mark.parametrize("told", ["nonsense", [{"tool": 1}], [grant("somebody else").model_dump(mode="json")]])
async def test_what_is_no_grant_of_the_subject_is_left_out(temporal_client: Client, task_queue: str, told: Any) -> None:
    agent = unique("agent")
    async with Worker(
        temporal_client, task_queue=task_queue, workflows=[Stranger], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        await temporal_client.start_workflow(GRANT_BOOK, told, id=grant_book_id("agent", agent), task_queue=task_queue)
        assert await GrantBooks(temporal_client, task_queue=task_queue).grants(agent, "") == ()


@pytest.mark.parametrize(
    ("unkept", "why"),
    [
        (grant("r1", level="run"), "no agent and no user"),
        (grant("", level="user"), "no agent and no user"),
        (grant("clerk", reason="x" * LARGEST_GRANT), "a pattern of the arguments"),
        (grant("x" * 2_000), "no workflow of that name"),
    ],
)
async def test_a_grant_that_no_book_takes_fails_for_good_and_says_why(
    temporal_client: Client, task_queue: str, unkept: Grant, why: str
) -> None:
    with pytest.raises(ApplicationError, match=why) as caught:
        await remember(GrantBooks(temporal_client, task_queue=task_queue), unkept)
    assert caught.value.non_retryable


async def test_a_server_that_refuses_for_now_is_asked_again(temporal_client: Client, task_queue: str) -> None:
    config = temporal_client.config()
    config["namespace"] = "no-such-namespace"
    elsewhere = Client(**config)
    with pytest.raises(ApplicationError, match="not kept for other runs: the server answered NOT_FOUND") as caught:
        await remember(GrantBooks(elsewhere, task_queue=task_queue), grant("clerk"))
    assert not caught.value.non_retryable
    assert await GrantBooks(elsewhere, task_queue=task_queue).grants("clerk", "ada") == ()
