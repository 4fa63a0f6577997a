"""Grants that outlive their run: what is remembered for an agent or a user, and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perdure.contracts.agent import AgentSpec
from perdure.contracts.approvals import Grant
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.events import CallsReviewed
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT, GRANT_BOOK
from perdure.contracts.requests import Remember
from perdure.testing.script import asks, says, script
from tests.server.stage import TOOLS, Stage
from tests.server.tools import effects
from tests.servers import StartWorker, unique

FOR_THE_AGENT = Remember(level="agent")


async def publishing(stage: Stage, agent: str, text: str = "news", **wishes: Any) -> str:
    """A run of the agent that publishes something."""
    played = script(asks("publish", text=text), says("Done."))
    return await stage.start(played, agent=AgentSpec(name=agent), **wishes)


async def asked(stage: Stage, run_id: str) -> bool:
    """Whether the run asks before it publishes, and not only when it is over."""
    event = await stage.until(run_id, lambda event: event.kind in ("request_opened", "run_closed"))
    return event.kind == "request_opened"


async def remembering(stage: Stage, agent: str, remember: Remember = FOR_THE_AGENT, **wishes: Any) -> str:
    """A run of the agent whose publishing was approved and remembered; it has ended."""
    run_id = await publishing(stage, agent, **wishes)
    assert await asked(stage, run_id)
    await stage.client.approve(run_id, remember=remember, actor="ada", reason="harmless")
    await stage.client.output(run_id)
    return run_id


async def kept(stage: Stage, agent: str) -> Grant:
    """The one grant of the agent, once it stands in its book."""
    while not (grants := await stage.client.grants.of_agent(agent)):
        pass
    (grant,) = grants
    return grant


async def test_what_is_remembered_for_an_agent_holds_for_its_runs_until_it_is_revoked(stage: Stage) -> None:
    agent = unique("clerk")
    first = await remembering(stage, agent)
    second = await publishing(stage, agent)
    assert not await asked(stage, second)
    reviewed = [event async for event in stage.client.events(second) if isinstance(event, CallsReviewed)]
    (verdict,) = [one.verdict for event in reviewed for one in event.verdicts]
    assert verdict.rule == "grant"
    assert f"{first}/g1-" in verdict.reason
    assert "ada" in verdict.reason
    assert await asked(stage, await publishing(stage, unique("another")))
    # Remembered were these very arguments.
    assert await asked(stage, await publishing(stage, agent, text="other news"))

    (grant,) = await stage.client.grants.of_agent(agent)
    assert (grant.tool, grant.actor, grant.reason) == ("publish", "ada", "harmless")
    assert grant.grant_id in verdict.reason
    receipt = await stage.client.grants.revoke("agent", agent, grant.grant_id, actor="bob")
    assert receipt.ids == (grant.grant_id,)
    assert await stage.client.grants.of_agent(agent) == ()
    assert await asked(stage, await publishing(stage, agent))
    assert effects(stage.folder) == ["publish news"] * 2


async def test_a_later_run_of_the_same_id_makes_grants_of_its_own(stage: Stage) -> None:
    agent, run_id = unique("clerk"), unique("nightly")
    await remembering(stage, agent, run_id=run_id)
    (first,) = await stage.client.grants.of_agent(agent)
    await stage.client.grants.revoke("agent", agent, first.grant_id)
    await remembering(stage, agent, run_id=run_id)
    (second,) = await stage.client.grants.of_agent(agent)
    assert not await asked(stage, await publishing(stage, agent))
    await stage.client.grants.revoke("agent", agent, second.grant_id)
    assert await asked(stage, await publishing(stage, agent))


async def test_what_is_remembered_for_a_user_holds_for_every_agent_that_the_user_starts(stage: Stage) -> None:
    user = unique("ada")
    await remembering(stage, unique("clerk"), Remember(level="user", when=()), user=user)
    other = unique("other")
    assert not await asked(stage, await publishing(stage, other, text="anything", user=user))
    assert await asked(stage, await publishing(stage, other, text="anything", user=unique("bob")))
    assert await asked(stage, await publishing(stage, other, text="anything"))
    (grant,) = await stage.client.grants.of_user(user)
    await stage.client.grants.revoke("user", user, grant.grant_id)
    assert await asked(stage, await publishing(stage, other, text="anything", user=user))


async def test_an_expired_grant_asks_again(stage: Stage) -> None:
    agent = unique("clerk")
    await remembering(stage, agent, Remember(level="agent", expires_in=timedelta(milliseconds=1)))
    assert await asked(stage, await publishing(stage, agent))
    assert await stage.client.grants.of_agent(agent) == ()
    await remembering(stage, agent, Remember(level="agent", expires_in=timedelta(hours=1)))
    assert not await asked(stage, await publishing(stage, agent))
    (grant,) = await stage.client.grants.of_agent(agent)
    assert grant.expires_at is not None
    assert timedelta(0) < grant.expires_at - datetime.now(UTC) <= timedelta(hours=1)


async def test_a_grant_for_the_agent_is_revoked_in_the_run_that_made_it_too(stage: Stage) -> None:
    agent = unique("clerk")
    played = script(asks("publish", text="a"), says("One."), asks("publish", text="a"), says("Two."))
    run_id = await stage.start(played, agent=AgentSpec(name=agent), conversation=True)
    assert await asked(stage, run_id)
    await stage.client.approve(run_id, remember=FOR_THE_AGENT)
    await stage.until_turn_ended(run_id)
    grant = await kept(stage, agent)
    assert await stage.client.grants.of_run(run_id) == (grant,)
    await stage.client.grants.revoke("agent", agent, grant.grant_id)
    assert await stage.client.grants.of_run(run_id) == ()
    await stage.client.send(run_id, "Again.")
    await stage.until_asked(run_id, "t2s1")
    await stage.client.cancel(run_id)


async def test_a_grant_that_is_revoked_on_its_way_into_the_book_never_counts(stage: Stage) -> None:
    agent = unique("clerk")
    played = script(asks("publish", text="news"), says("One."))
    run_id = await stage.start(played, agent=AgentSpec(name=agent), conversation=True)
    assert await asked(stage, run_id)
    await stage.client.approve(run_id, remember=FOR_THE_AGENT)
    grant = await kept(stage, agent)
    # As if it had not come yet: the run has it, and no book does.
    await stage.temporal.get_workflow_handle(grant_book_id("agent", agent)).terminate()
    await stage.client.grants.revoke("agent", agent, grant.grant_id)
    await stage.temporal.get_workflow_handle(grant_book_id("agent", agent)).signal(GRANT, grant)
    assert await stage.client.grants.of_agent(agent) == ()
    assert await asked(stage, await publishing(stage, agent))
    await stage.client.close(run_id)


async def test_a_grant_for_the_run_is_listed_and_revoked_with_it_and_no_other_run_has_it(stage: Stage) -> None:
    agent = unique("clerk")
    played = script(asks("publish", text="a"), says("One."))
    run_id = await stage.start(played, agent=AgentSpec(name=agent), conversation=True)
    assert await asked(stage, run_id)
    await stage.client.approve(run_id, remember=Remember())
    await stage.until_turn_ended(run_id)
    assert [grant.grant_id for grant in await stage.client.grants.of_run(run_id)] == ["g1"]
    assert await stage.client.grants.of_agent(agent) == ()
    assert await asked(stage, await publishing(stage, agent, text="a"))
    await stage.client.grants.revoke("run", run_id, "g1")
    assert await stage.client.grants.of_run(run_id) == ()
    await stage.client.close(run_id)


async def test_a_grant_that_is_not_there_cannot_be_revoked(stage: Stage) -> None:
    agent = unique("clerk")
    with pytest.raises(OrderRefusedError, match=f"Nothing is remembered for the agent {agent}"):
        await stage.client.grants.revoke("agent", agent, "r/g1")
    await remembering(stage, agent)
    with pytest.raises(OrderRefusedError, match="There is no grant r/g1"):
        await stage.client.grants.revoke("agent", agent, "r/g1")


async def test_grant_books_are_no_runs_and_are_found_all_together(stage: Stage) -> None:
    agent, user = unique("clerk"), unique("ada")
    run_id = await remembering(stage, agent)
    await remembering(stage, unique("other"), Remember(level="user"), user=user)
    books = {grant_book_id("agent", agent), grant_book_id("user", user)}
    listed: set[str] = set()
    while not books <= listed:
        listed = {each.id async for each in stage.temporal.list_workflows(f"WorkflowType = '{GRANT_BOOK}'")}
    remembered = await stage.client.grants.of_all()
    found = [grant.subject for grant in remembered.grants if grant.subject in (agent, user)]
    assert sorted(found) == sorted((agent, user))
    assert not books & set(remembered.silent)
    runs = {run.run_id for run in await stage.client.list(limit=1000)}
    assert run_id in runs
    assert not runs & listed


async def test_grants_outlive_the_worker_that_wrote_them(
    stage_without_worker: Stage, start_worker: StartWorker
) -> None:
    stage, agent = stage_without_worker, unique("clerk")
    settings = {"tools": TOOLS, "model": "demo:demo", "agents": str(stage.folder / "none")}
    first = start_worker(**settings)
    await remembering(stage, agent)
    first.kill()
    start_worker(**settings)
    assert not await asked(stage, await publishing(stage, agent))


async def test_a_book_that_no_worker_serves_is_named_and_hides_no_other(stage: Stage) -> None:
    agent, lost = unique("clerk"), grant_book_id("agent", unique("lost"))
    await remembering(stage, agent)
    handle = await stage.temporal.start_workflow(GRANT_BOOK, id=lost, task_queue=unique("nobody"))
    remembered = await stage.client.grants.of_all()
    while lost not in remembered.silent:
        remembered = await stage.client.grants.of_all()
    assert agent in {grant.subject for grant in remembered.grants}
    await handle.terminate()
