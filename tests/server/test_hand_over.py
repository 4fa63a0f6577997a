"""Continue-as-new, forced every few events: conversation, requests, messages and positions go on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from perdure.contracts.events import AnyEvent
from perdure.testing.script import asks, says, script
from tests.server.stage import Stage, worker_here
from tests.server.tools import effects
from tests.servers import running_server


@pytest.fixture(scope="module")
def restless_server() -> Iterator[str]:
    """A server that suggests a hand-over after 25 events."""
    with running_server("--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=25") as address:
        yield address


@pytest.fixture
async def restless(restless_server: str, tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage on that server."""
    stage = await Stage.on(restless_server, tmp_path)
    async with worker_here(restless_server, stage.task_queue, tmp_path):
        yield stage
        await stage.compare_histories_with_runs()


def executions(events: list[AnyEvent]) -> int:
    """In how many executions the events stand."""
    return len({event.position.execution_id for event in events if event.position})


async def test_a_run_of_many_steps_goes_on_over_several_executions(restless: Stage) -> None:
    played = script(*[asks("look", name=name) for name in "abcdefgh"], says("All."))
    run_id = await restless.start(played)
    events = [event async for event in restless.client.events(run_id, live=False)]
    assert executions(events) > 2
    assert (await restless.client.output(run_id)).steps == 9
    ids = [message.message_id for message in await restless.client.transcript(run_id)]
    assert ids == ["u1", *(name for step in range(1, 9) for name in (f"t1s{step}", f"t1s{step}c1r")), "t1s9"]
    assert len(effects(restless.folder)) == 8


async def test_events_resume_from_any_position_of_any_execution(restless: Stage) -> None:
    run_id = await restless.start(script(*[asks("look", name=name) for name in "abcd"], says("All.")))
    events = [event async for event in restless.client.events(run_id, live=False)]
    assert executions(events) > 1
    for place in range(0, len(events), 5):
        rest = [event async for event in restless.client.events(run_id, after=events[place].position, live=False)]
        assert rest == events[place + 1 :]


async def test_a_request_that_waits_is_handed_over_and_can_be_answered(restless: Stage) -> None:
    steps = [asks("look", name="a"), asks("look", name="b"), asks("publish", text="x"), asks("publish", text="y")]
    run_id = await restless.start(script(*steps, says("Done.")))
    for message_id in ("t1s3", "t1s4"):
        await restless.until_asked(run_id, message_id)
        await restless.client.send(run_id, f"By the way, at {message_id}.")
        await restless.client.approve(run_id, f"{message_id}c1")
    assert (await restless.client.output(run_id)).output == "Done."
    assert effects(restless.folder) == ["look a", "look b", "publish x", "publish y"]
    users = [message.message_id for message in await restless.client.transcript(run_id) if message.role == "user"]
    assert users == ["u1", "u2", "u3"]


async def test_a_conversation_goes_on_turn_after_turn(restless: Stage) -> None:
    played = script(*[says(f"Answer {turn}.") for turn in range(1, 9)])
    run_id = await restless.start(played, conversation=True)
    for turn in range(1, 8):
        await restless.until_turn_ended(run_id, turn)
        await restless.client.send(run_id, f"Question {turn + 1}.")
    await restless.until_turn_ended(run_id, 8)
    await restless.client.close(run_id)
    output = await restless.client.output(run_id)
    assert (output.turns, output.output) == (8, "Answer 8.")
    events = [event async for event in restless.client.events(run_id, live=False)]
    assert executions(events) > 1
