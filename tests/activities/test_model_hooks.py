"""Hooks around model calls: who is told, who may object, and what a stop leaves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from perdure.activities.hooks import ModelHooks
from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.usage import Usage
from perdure.providers.scripted import Pause, Reply, ScriptedFailure, ScriptedProvider
from tests.activities.models import USAGE, Beats, One, activities, answered, playing
from tests.activities.runs import Run, said


async def test_hooks_learn_what_each_attempt_took_and_came_to() -> None:
    seen: list[Any] = []
    hooks = ModelHooks(
        before={"plan": seen.append},
        usage={"use": seen.append},
        completion={"answer": seen.append},
        error={"fail": seen.append},
    )
    run = Run((said(1),))
    one = playing(Reply(text=("Hello",), failures=(ScriptedFailure(kind="overloaded", after=2),)))
    call = run.call().model_copy(update={"agent": "clerk", "user": "ada"})
    message, _ = await answered(activities(one, run, hooks), call)
    by_attempt = [(type(event).__name__, event.attempt) for event in seen]
    assert by_attempt[0] == ("ModelCallPlanned", 1)
    assert sorted(by_attempt[1:3]) == [("ModelCallFailed", 1), ("ModelCallUsed", 1)]
    assert by_attempt[3] == ("ModelCallPlanned", 2)
    assert sorted(by_attempt[4:]) == [("ModelCallAnswered", 2), ("ModelCallUsed", 2)]
    assert all((event.agent, event.user, event.run_id) == ("clerk", "ada", "r1") for event in seen)
    for event in seen:
        match event:
            case ModelCallPlanned():
                assert event.request.messages == run.messages
            case ModelCallUsed():
                broke_off = {"requests": 1, "incomplete": int(event.attempt == 1)}
                assert event.usage == USAGE.model_copy(update=broke_off)
            case ModelCallAnswered():
                assert event.message == message
            case ModelCallFailed():
                assert (event.failure.kind, event.again) == ("overloaded", True)


async def test_a_veto_is_final_and_nobody_is_asked() -> None:
    run, beats = Run((said(1),)), Beats()
    one = playing(Reply(text=("Hello",)))
    hooks = ModelHooks(before={"guard": lambda event: "too dear"})
    with pytest.raises(ApplicationError, match="vetoed by guard: too dear") as caught:
        await beats.run(activities(one, run, hooks).call_model, run.call())
    assert (caught.value.type, caught.value.non_retryable) == ("vetoed", True)
    assert isinstance(one.provider, ScriptedProvider)
    assert one.provider.requests == []
    assert beats.live[-1].usage == Usage()


async def test_a_guard_that_fails_lets_the_call_be_tried_again_with_a_wait() -> None:
    run = Run((said(1),))

    def guard(event: object) -> None:
        raise RuntimeError("sk-canary")

    with pytest.raises(ApplicationError, match="RuntimeError") as caught:
        await Beats().run(
            activities(playing(Reply(text=("Hello",))), run, ModelHooks(before={"guard": guard})).call_model, run.call()
        )
    assert not caught.value.non_retryable
    assert caught.value.next_retry_delay is not None
    assert "canary" not in str(caught.value)


STOP = ActivityCancellationDetails(cancel_requested=True)


@contextmanager
def stopping(beats: Beats, why: ActivityCancellationDetails = STOP) -> Iterator[Callable[[object], None]]:
    """A hook that has the call stopped when it is called, and then hangs until the block is left."""
    released, loop = threading.Event(), asyncio.get_running_loop()

    def stop(event: object) -> None:
        loop.call_soon_threadsafe(beats.cancel, why)
        released.wait(60)

    try:
        yield stop
    finally:
        released.set()


async def called(beats: Beats, provider: One, **hooks: Any) -> AssistantMessage:
    """What a call comes to whose hooks may hang for a minute. Fails when it waits for one that long."""
    run = Run((said(1),))
    model = activities(provider, run, ModelHooks(**hooks, timeout=timedelta(minutes=1)))
    async with asyncio.timeout(30):
        message: AssistantMessage = await beats.run(model.call_model, run.call())
    return message


@pytest.mark.parametrize("why", [STOP, ActivityCancellationDetails(worker_shutdown=True)])
async def test_a_stop_while_hooks_are_told_of_an_answer_leaves_the_answer_whole(
    why: ActivityCancellationDetails,
) -> None:
    beats = Beats()
    with stopping(beats, why) as stop:
        message = await called(beats, playing(Reply(text=("Hello",))), completion={"h": stop})
    assert (message.text, message.finish) == ("Hello", "stop")


async def test_a_stop_while_hooks_are_told_of_a_failure_returns_what_had_come() -> None:
    beats = Beats()
    one = playing(Reply(text=("Hel", "lo"), failures=(ScriptedFailure(kind="overloaded", after=1),)))
    used: list[object] = []
    with stopping(beats) as stop:
        message = await called(beats, one, error={"h": stop}, usage={"u": used.append})
    assert (message.text, message.finish) == ("Hel", "interrupted")
    assert len(used) == 1


async def test_a_call_is_stopped_while_a_guard_thinks() -> None:
    beats = Beats()
    with stopping(beats) as stop:
        message = await called(beats, playing(Reply(text=("Hello",))), before={"h": stop})
    assert (message.parts, message.finish, message.usage) == ((), "interrupted", Usage())


async def test_who_stops_a_call_does_not_wait_for_hooks(tmp_path: Path) -> None:
    beats = Beats(stop_at="Hel")
    reply = Reply(text=("Hel", "lo"), pauses=(Pause(gate=str(tmp_path / "gate"), after=1),))
    with stopping(beats) as stop:
        message = await called(beats, playing(reply), completion={"h": stop})
    assert (message.text, message.finish) == ("Hel", "interrupted")
