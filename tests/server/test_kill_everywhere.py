"""kill -9 at every boundary of a call: proposed, authorized, requested, responded, running, settled.

Wherever the worker dies, nothing runs that nobody allowed, nothing runs twice, and the next worker goes on from there.
"""

from __future__ import annotations

import asyncio
import signal

import pytest

from perdure import AgentSpec, ToolPolicy
from perdure.contracts.brief import brief
from perdure.contracts.messages import ToolMessage
from perdure.contracts.requests import Approve, Deny, Order, Remember
from perdure.providers.gate import Gate
from perdure.providers.scripted import Script
from perdure.testing.script import asks, held, says, script, together
from tests.server.mortal import doom
from tests.server.stage import RESOLVER, Stage, Workers
from tests.server.tools import effects
from tests.servers import OwnedProcess

pytestmark = pytest.mark.slow
CAREFUL = AgentSpec(policy=(ToolPolicy(tool="launch", resolver=RESOLVER),))
"""An agent of whose launches a person must be asked, and where judging can be deadly."""


async def died(process: OwnedProcess) -> None:
    """Wait until the process has killed itself."""
    assert await asyncio.to_thread(process.wait) == -signal.SIGKILL


async def signalled(stage: Stage, run_id: str, order: Order) -> None:
    """Tell the run something that stays in its history, whether or not a worker lives."""
    await stage.temporal.get_workflow_handle(run_id).signal(order.kind, brief(order))


async def result(stage: Stage, run_id: str, call_id: str = "t1s1c1") -> ToolMessage:
    """The one result of a call."""
    (found,) = [message for message in await stage.results(run_id) if message.call_id == call_id]
    return found


def one_launch(then: str = "Done.") -> Script:
    return script(asks("launch", name="x"), says(then))


async def test_killed_between_the_reply_and_its_verdict(lone: Stage, worker: Workers) -> None:
    doom(lone.folder, "while judging")
    first = worker()
    run_id = await lone.start(one_launch(), agent=CAREFUL)
    await died(first)
    assert effects(lone.folder) == []

    worker()
    await lone.until_kind(run_id, "request_opened")
    assert effects(lone.folder) == []
    await lone.client.approve(run_id)

    assert (await lone.client.output(run_id)).output == "Done."
    assert effects(lone.folder) == ["launch x"]
    await lone.compare_histories_with_runs()


async def test_killed_while_the_request_is_open(lone: Stage, worker: Workers) -> None:
    first = worker()
    run_id = await lone.start(one_launch(), agent=CAREFUL)
    opened = await lone.until_kind(run_id, "request_opened")
    first.kill()
    assert effects(lone.folder) == []

    worker()
    assert opened.kind == "request_opened"
    (still,) = (await lone.client.open_requests(run_id)).requests
    assert still == opened.request
    assert effects(lone.folder) == []
    await lone.client.approve(run_id)

    await lone.client.output(run_id)
    assert effects(lone.folder) == ["launch x"]
    events = [event async for event in lone.client.events(run_id, live=False)]
    assert [event.kind for event in events].count("request_opened") == 1
    await lone.compare_histories_with_runs()


@pytest.mark.parametrize(
    "order",
    [Approve(call_id="t1s1c1", actor="ada"), Deny(call_id="t1s1c1", actor="ada", reason="no")],
    ids=["approve", "deny"],
)
async def test_responded_while_nobody_worked(lone: Stage, worker: Workers, order: Order) -> None:
    first = worker()
    run_id = await lone.start(one_launch(), agent=CAREFUL)
    await lone.until_kind(run_id, "request_opened")
    first.kill()
    await signalled(lone, run_id, order)
    assert effects(lone.folder) == []

    worker()
    await lone.client.output(run_id)
    assert effects(lone.folder) == (["launch x"] if order.kind == "approve" else [])
    assert (await result(lone, run_id)).status == ("ok" if order.kind == "approve" else "denied")
    await lone.compare_histories_with_runs()


async def test_of_contrary_responses_that_came_while_nobody_worked_the_first_counts(
    lone: Stage, worker: Workers
) -> None:
    first = worker()
    run_id = await lone.start(one_launch(), agent=CAREFUL)
    await lone.until_kind(run_id, "request_opened")
    first.kill()
    await signalled(lone, run_id, Deny(call_id="t1s1c1", actor="ada", reason="no"))
    await signalled(lone, run_id, Approve(call_id="t1s1c1", actor="bob"))

    worker()
    await lone.client.output(run_id)
    assert effects(lone.folder) == []
    orders = [event async for event in lone.client.events(run_id, live=False) if event.kind == "order_received"]
    assert [bool(event.refused) for event in orders] == [False, True]


async def test_killed_between_the_response_and_the_judging_that_follows(lone: Stage, worker: Workers) -> None:
    first = worker()
    run_id = await lone.start(one_launch(), agent=CAREFUL)
    await lone.until_kind(run_id, "request_opened")
    doom(lone.folder, "while judging")
    await signalled(lone, run_id, Approve(call_id="t1s1c1", actor="ada"))
    await died(first)
    assert effects(lone.folder) == []

    worker()
    assert (await lone.client.output(run_id)).output == "Done."
    assert effects(lone.folder) == ["launch x"]
    reviews = [event async for event in lone.client.events(run_id, live=False) if event.kind == "calls_reviewed"]
    assert [verdict.verdict.decision for event in reviews for verdict in event.verdicts] == ["ask", "allow"]
    await lone.compare_histories_with_runs()


@pytest.mark.parametrize(
    ("where", "took_effect"), [("before the effect", []), ("after the effect", ["launch x"])], ids=["before", "after"]
)
async def test_killed_while_it_runs(lone: Stage, worker: Workers, where: str, took_effect: list[str]) -> None:
    first = worker()
    run_id = await lone.start(one_launch("Who knows."), agent=CAREFUL)
    await lone.until_kind(run_id, "request_opened")
    doom(lone.folder, where)
    await lone.client.approve(run_id)
    await died(first)

    worker()
    assert (await lone.client.output(run_id)).output == "Who knows."
    assert effects(lone.folder) == took_effect, "it ran again, and nobody said that it may"
    assert (await result(lone, run_id)).status == "unknown"
    await lone.compare_histories_with_runs()


async def test_killed_when_it_has_settled_and_the_model_is_asked_again(lone: Stage, worker: Workers) -> None:
    first = worker()
    gate = Gate(lone.folder / "gate")
    run_id = await lone.start(
        script(asks("launch", name="x"), held(says("Do", "ne."), gate.path, after=1)), agent=CAREFUL
    )
    await lone.until_kind(run_id, "request_opened")
    await lone.client.approve(run_id)
    await lone.until(run_id, lambda event: event.kind == "text_arrived")
    first.kill()
    gate.open()

    worker()
    assert (await lone.client.output(run_id)).output == "Done."
    assert effects(lone.folder) == ["launch x"]
    await lone.compare_histories_with_runs()


async def test_killed_after_a_grant_was_made(lone: Stage, worker: Workers) -> None:
    """The grant stands in the history: the next worker knows it, and the same call asks no more."""
    first = worker()
    played = script(asks("launch", name="x"), asks("publish", text="y"), asks("launch", name="x"), says("Done."))
    run_id = await lone.start(played, agent=CAREFUL)
    await lone.until_kind(run_id, "request_opened")
    await lone.client.approve(run_id, remember=Remember(), actor="ada")
    await lone.until_asked(run_id, "t1s2")
    first.kill()

    worker()
    await lone.client.approve(run_id, "t1s2c1")
    await lone.client.output(run_id)
    assert effects(lone.folder) == ["launch x", "publish y", "launch x"]
    events = [event async for event in lone.client.events(run_id, live=False)]
    assert [event.kind for event in events].count("request_opened") == 2
    await lone.compare_histories_with_runs()


async def test_killed_at_each_boundary_of_one_run(lone: Stage, worker: Workers) -> None:
    """One run, four workers dead: each launch ran once or not at all, and each call settled once."""
    played = script(
        together(asks("launch", name="a"), asks("launch", name="b")), asks("launch", name="c"), says("All done.")
    )
    doom(lone.folder, "while judging")
    process = worker()
    run_id = await lone.start(played, agent=CAREFUL)
    await died(process)

    process = worker()
    await lone.until_asked(run_id, "t1s1")
    doom(lone.folder, "while judging")
    await signalled(lone, run_id, Approve(call_ids=("t1s1c1",), actor="ada"))
    await died(process)
    assert effects(lone.folder) == []

    doom(lone.folder, "after the effect")
    await died(worker())
    assert effects(lone.folder) == ["launch a"]

    process = worker()
    await lone.client.deny(run_id, "t1s1c2", actor="bob")
    await lone.until_asked(run_id, "t1s2")
    process.kill()
    await signalled(lone, run_id, Approve(call_id="t1s2c1", actor="bob"))

    worker()
    assert (await lone.client.output(run_id)).output == "All done."
    assert effects(lone.folder) == ["launch a", "launch c"]
    told = [(await result(lone, run_id, call_id)).status for call_id in ("t1s1c1", "t1s1c2", "t1s2c1")]
    assert told == ["unknown", "denied", "ok"]
    await lone.compare_histories_with_runs()
