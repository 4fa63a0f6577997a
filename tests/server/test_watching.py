"""Watching a run: nothing is missed, nothing comes twice, and no watcher touches a run."""

from __future__ import annotations

import asyncio

import pytest

from perdure.contracts.events import AnyEvent, TextArrived
from perdure.contracts.messages import AssistantMessage
from perdure.providers.gate import Gate
from perdure.testing.script import asks, fails, held, says, script, together
from tests.server.stage import Stage, worker_here


def joined(events: list[AnyEvent], attempt: int) -> str:
    """The live text of one attempt, pieces put where their offsets say."""
    text = ""
    for event in events:
        if isinstance(event, TextArrived) and event.attempt == attempt and event.channel == "text":
            assert event.offset == len(text)
            text += event.text
    return text


async def test_joined_live_text_is_the_recorded_text(stage: Stage) -> None:
    pieces = [f"word{number} " for number in range(40)]
    run_id = await stage.start(script(held(says(*pieces), stage.folder / "gate", after=20)))
    events: list[AnyEvent] = []
    async for event in stage.client.events(run_id):
        events.append(event)
        if event.kind == "text_arrived":
            Gate(stage.folder / "gate").open()
    kinds = [event.kind for event in events]
    assert kinds.index("text_arrived") < kinds.index("model_answered")
    assert joined(events, 1) == "".join(pieces)


async def test_a_failed_attempt_shows_as_a_restart_with_its_attempt_number(stage: Stage) -> None:
    answer = held(says("once ", "upon ", "a time"), stage.folder / "gate", after=1)
    run_id = await stage.start(script(fails("overloaded", after=2), answer))
    events: list[AnyEvent] = []
    async for event in stage.client.events(run_id):
        events.append(event)
        if event.kind == "text_arrived":
            Gate(stage.folder / "gate").open()
    attempts = [event.attempt for event in events if isinstance(event, TextArrived)]
    assert attempts == sorted(attempts)
    assert joined(events, 2) == "once upon a time"
    message = (await stage.client.transcript(run_id))[-1]
    assert isinstance(message, AssistantMessage)
    assert message.attempt == 2


async def test_subscribing_late_or_again_leaves_no_gap_and_repeats_nothing(stage: Stage) -> None:
    run_id = await stage.start(script(together(asks("look", name="a"), asks("look", name="b")), says("Done.")))
    first = [event async for event in stage.client.events(run_id, live=False)]
    assert first[-1].kind == "run_closed"
    assert [event async for event in stage.client.events(run_id, live=False)] == first
    for place, event in enumerate(first):
        rest = [later async for later in stage.client.events(run_id, after=event.position, live=False)]
        assert rest == first[place + 1 :]


async def test_events_of_a_closed_run_need_no_worker(stage_without_worker: Stage, dev_server: str) -> None:
    quiet = stage_without_worker
    async with worker_here(dev_server, quiet.task_queue, quiet.folder):
        run_id = await quiet.start(script(asks("look", name="a"), says("Done.")))
        seen = [event async for event in quiet.client.events(run_id, live=False)]
    assert [event async for event in quiet.client.events(run_id, live=False)] == seen
    assert [message.message_id for message in await quiet.client.transcript(run_id)] == [
        "u1",
        "t1s1",
        "t1s1c1r",
        "t1s2",
    ]


async def test_a_watcher_that_raises_or_stalls_leaves_the_run_and_other_watchers_alone(stage: Stage) -> None:
    run_id = await stage.start(script(asks("look", name="a"), held(says("Done."), stage.folder / "gate")))

    async def raises() -> None:
        async for _ in stage.client.events(run_id):
            raise RuntimeError("a careless watcher")

    stalling = stage.client.events(run_id)
    await anext(stalling)
    with pytest.raises(RuntimeError, match="careless"):
        await raises()
    healthy = asyncio.create_task(stage.until_kind(run_id, "run_closed"))
    Gate(stage.folder / "gate").open()
    assert (await stage.client.output(run_id)).output == "Done."
    assert (await healthy).kind == "run_closed"
    assert [event.kind async for event in stalling if event.kind == "run_closed"] == ["run_closed"]


async def test_what_the_history_says_is_what_the_run_says(stage: Stage) -> None:
    mixed = together(asks("look", name="a"), asks("publish", text="b"), asks("ask_human", question="Why?"))
    run_id = await stage.start(script(mixed, says("Done.")))
    await stage.until_kind(run_id, "question_opened")
    asked = await stage.client.open_requests(run_id)
    state = (await stage.client.history(run_id)).state
    assert state is not None
    assert (state.requests, state.questions) == (asked.requests, asked.questions)
    await stage.client.answer(run_id, "Because.")
    await stage.client.approve(run_id)
    await stage.client.output(run_id)
    await stage.compare_histories_with_runs()
