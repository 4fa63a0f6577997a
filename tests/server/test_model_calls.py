"""Model calls on a real server: fallbacks in order, models by purpose, and hooks around each call."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType

from perdure import AgentSpec, RunFailedError, RunRequest
from perdure.contracts.events import AnyEvent, Retrying, TextArrived
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.usage import Usage
from perdure.providers.gate import Gate
from perdure.testing.script import asks, fails, held, says, script
from tests.server import watchers
from tests.server.stage import Stage, worker_here
from tests.servers import eventually, recorded

TWO_EACH: dict[str, Any] = {"model_attempts": 2}


async def begun(stage: Stage, *models: str, message: str = "Hi", **wishes: Any) -> str:
    """A run that asks these models in order."""
    first, *fallbacks = models
    request = RunRequest(
        message=message, model=first, fallbacks=tuple(fallbacks), workspace=str(stage.folder), user="ada", **wishes
    )
    run_id = await stage.client.start(request)
    stage.started.append(run_id)
    return run_id


async def last_message(stage: Stage, run_id: str) -> AssistantMessage:
    message = (await stage.client.transcript(run_id))[-1]
    assert isinstance(message, AssistantMessage)
    return message


@pytest.mark.parametrize("kind", ["authentication", "quota", "bad_request", "context_too_long"])
async def test_what_another_model_may_not_have_moves_on_at_once(stage: Stage, kind: Any) -> None:
    first, second = stage.model(script(fails(kind))), stage.model(script(says("Here.")))
    run_id = await begun(stage, first, second)
    assert (await stage.client.output(run_id)).output == "Here."
    message = await last_message(stage, run_id)
    assert (message.model, message.attempt, message.usage.requests) == (second, 2, 2)


async def test_the_next_model_is_asked_when_the_attempts_of_one_are_used_up_and_history_stays_as_it_is(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    # After two pieces the usage has come: each failed attempt has taken tokens.
    first = stage.model(script(fails("overloaded", after=2), fails("network", after=2), says("Never.")))
    second = stage.model(script(fails("timeout"), says("Here.")))
    async with worker_here(dev_server, stage.task_queue, stage.folder, **TWO_EACH):
        run_id = await begun(stage, first, second)
        output = await stage.client.output(run_id)
        assert output.output == "Here."
        assert output.usage == Usage(requests=4, input_tokens=30, output_tokens=15, incomplete=3)
        message = await last_message(stage, run_id)
        assert (message.model, message.attempt) == (second, 4)
        history = await stage.temporal.get_workflow_handle(run_id).fetch_history()
        kinds = [event.event_type for event in history.events]
        assert kinds.count(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) == 1
        await stage.compare_histories_with_runs()


async def test_a_watcher_sees_the_restart_and_which_model_writes(stage: Stage) -> None:
    first = stage.model(script(fails("quota", after=1), says("Half an answer")))
    second = stage.model(script(held(says("A whole", " one."), stage.folder / "gate", after=1)))
    run_id = await begun(stage, first, second)
    events: list[AnyEvent] = []
    async for event in stage.client.events(run_id):
        events.append(event)
        if event.kind == "text_arrived" and event.model == second:
            Gate(stage.folder / "gate").open()
    pieces = [event for event in events if isinstance(event, TextArrived)]
    written = [(piece.attempt, piece.offset, piece.text) for piece in pieces if piece.model == second]
    assert "".join(text for _, _, text in written) == "A whole one."
    assert {attempt for attempt, _, _ in written} == {2}
    assert written[0][1] == 0
    (retrying,) = [event for event in events if isinstance(event, Retrying)]
    assert retrying.reason.endswith(f"The model {second} is asked next.")


async def test_a_run_that_no_model_answers_says_why_of_each(stage: Stage) -> None:
    first = stage.model(script(fails("quota", detail="the account is empty")))
    second = stage.model(script(fails("authentication", detail="the key is wrong")))
    run_id = await begun(stage, first, second)
    with pytest.raises(RunFailedError) as caught:
        await stage.client.output(run_id)
    cause = caught.value.cause
    assert cause.kind == "quota"
    assert "the account is empty" in cause.message
    assert f"{second}: scripted: the key is wrong" in cause.message


async def test_each_call_of_a_run_begins_with_its_own_model(stage: Stage) -> None:
    first = stage.model(script(fails("quota"), asks("look", name="a"), says("Done.")))
    second = stage.model(script(asks("look", name="b"), says("Never.")))
    run_id = await begun(stage, first, second)
    assert (await stage.client.output(run_id)).output == "Done."
    models = [message.model for message in await stage.client.transcript(run_id) if message.role == "assistant"]
    assert models == [second, first]


async def test_a_refusal_is_an_answer_and_no_other_model_is_asked(stage: Stage) -> None:
    first, second = stage.model(script(fails("refused"))), stage.model(script(says("Never.")))
    run_id = await begun(stage, first, second)
    with pytest.raises(RunFailedError) as caught:
        await stage.client.output(run_id)
    assert caught.value.cause.kind == "refused"


async def test_an_interrupt_keeps_the_text_and_the_name_of_the_fallback_that_wrote_it(stage: Stage) -> None:
    first = stage.model(script(fails("quota")))
    second = stage.model(script(held(says("I begin", " and end."), stage.folder / "gate", after=1)))
    run_id = await begun(stage, first, second, conversation=True)
    await stage.until(run_id, lambda event: event.kind == "text_arrived" and event.text == "I begin")
    await stage.client.interrupt(run_id)
    await stage.until_turn_ended(run_id)
    message = await last_message(stage, run_id)
    assert (message.model, message.finish, message.text) == (second, "interrupted", "I begin")
    assert message.usage.requests == 2
    await stage.client.close(run_id)


async def test_an_interrupt_in_the_back_off_of_a_fallback_keeps_its_text_and_its_name(stage: Stage) -> None:
    first = stage.model(script(fails("quota", after=1), says("Void")))
    second = stage.model(script(fails("overloaded", after=1, retry_after=timedelta(seconds=25)), says("Half", " done")))
    run_id = await begun(stage, first, second, conversation=True)
    await stage.until(run_id, lambda event: event.kind == "retrying" and event.attempt == 3)
    await stage.client.interrupt(run_id)
    await stage.until_turn_ended(run_id)
    message = await last_message(stage, run_id)
    assert (message.model, message.attempt, message.finish, message.text) == (second, 2, "interrupted", "Half")
    assert message.usage.requests == 2
    await stage.client.close(run_id)


async def test_models_are_frozen_at_the_start_and_the_start_counts_before_agent_and_settings(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    settings: dict[str, Any] = {
        "fallbacks": ("demo:worker",),
        "models": {"compression": "demo:c", "subagent": "demo:s"},
    }
    spec = AgentSpec(name="clerk", models={"compression": "demo:agent"})
    async with worker_here(dev_server, stage.task_queue, stage.folder, model="demo:demo", **settings):
        plain = await stage.client.start(RunRequest(message="Hi", agent=spec))
        wished = await stage.client.start(
            RunRequest(message="Hi", agent=spec, fallbacks=("demo:start",), models={"subagent": "demo:start"})
        )
        for run_id in (plain, wished):
            await stage.client.output(run_id)
    frozen = [(await stage.client.history(run_id)).state for run_id in (plain, wished)]
    agents = [state.agent for state in frozen if state is not None and state.agent is not None]
    assert [agent.fallbacks for agent in agents] == [("demo:worker",), ("demo:start",)]
    assert [agent.model_for("compression") for agent in agents] == ["demo:agent", "demo:agent"]
    assert [agent.model_for("subagent") for agent in agents] == ["demo:s", "demo:start"]


def hooks(folder: Path, **named: str) -> dict[str, Any]:
    """Settings with these functions of `tests.server.watchers`, from a copy in the folder."""
    file = folder / "watchers.py"
    shutil.copy(watchers.__file__, file)
    return {setting: tuple(f"{file}:{name}" for name in names.split()) for setting, names in named.items()}


def notes(folder: Path) -> list[dict[str, Any]]:
    file = folder / watchers.NOTES
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def test_hooks_are_told_of_every_attempt(stage_without_worker: Stage, dev_server: str) -> None:
    stage = stage_without_worker
    told = hooks(
        stage.folder, before_model_call="plan", on_model_usage="use", on_model_answer="answer", on_model_error="fail"
    )
    first, second = stage.model(script(fails("quota", after=2), says("Half"))), stage.model(script(says("Here.")))
    async with worker_here(dev_server, stage.task_queue, stage.folder, **told):
        run_id = await begun(stage, first, second)
        await stage.client.output(run_id)
    common = {"agent": "assistant", "user": "ada"}
    assert sorted(notes(stage.folder), key=lambda note: (note["attempt"], note["what"])) == [
        {"what": "fail", "model": first, "attempt": 1, "kind": "quota", "again": True},
        {"what": "plan", "model": first, "attempt": 1, **common},
        {"what": "use", "model": first, "attempt": 1, "requests": 1, "tokens": 15},
        {"what": "answer", "model": second, "attempt": 2, "text": "Here.", "finish": "stop"},
        {"what": "plan", "model": second, "attempt": 2, **common},
        {"what": "use", "model": second, "attempt": 2, "requests": 1, "tokens": 15},
    ]


async def test_a_veto_ends_the_turn_with_its_reason_and_the_conversation_goes_on(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    told = hooks(stage.folder, before_model_call="plan", on_model_error="fail", on_model_usage="use")
    model = stage.model(script(says("Gladly."), repeat_last=True))
    async with worker_here(dev_server, stage.task_queue, stage.folder, **told):
        run_id = await begun(stage, model, stage.model(script(says("Never."))), message="On Sunday", conversation=True)
        ended = await stage.until_turn_ended(run_id)
        assert ended.failure is not None
        assert (ended.end, ended.failure.kind, ended.failure.attribution) == ("failed", "vetoed", "operator")
        assert ended.failure.message.endswith(f"watchers.py:plan: {watchers.VETO}")
        assert [(note["what"], note.get("kind")) for note in notes(stage.folder)] == [
            ("plan", None),
            ("fail", "vetoed"),
        ]
        await stage.client.send(run_id, "On Monday")
        await stage.until(run_id, lambda event: event.kind == "model_answered" and event.message.text == "Gladly.")
        await stage.client.close(run_id)
        one_turn = await begun(stage, model, message="On Sunday again")
        with pytest.raises(RunFailedError, match=watchers.VETO) as caught:
            await stage.client.output(one_turn)
        assert caught.value.cause.kind == "vetoed"
        await stage.compare_histories_with_runs()


async def test_hooks_that_raise_or_hang_fail_no_answer(stage_without_worker: Stage, dev_server: str) -> None:
    stage = stage_without_worker
    all_of_them = "broken hanging slow"
    told = hooks(stage.folder, on_model_usage=all_of_them, on_model_answer=all_of_them, on_model_error=all_of_them)
    model = stage.model(script(fails("overloaded"), says("Here.")))
    async with worker_here(dev_server, stage.task_queue, stage.folder, model_hook_timeout="300ms", **told):
        run_id = await begun(stage, model)
        assert (await stage.client.output(run_id)).output == "Here."
        # A hook that is waited for no longer goes on all the same.
        await eventually(lambda: len(notes(stage.folder)) == 4)
    assert {note["what"] for note in notes(stage.folder)} == {"slow"}


async def test_a_hook_that_cannot_say_whether_it_agrees_is_asked_again_and_its_words_stay_out(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    told = hooks(stage.folder, before_model_call="broken_once")
    async with worker_here(dev_server, stage.task_queue, stage.folder, **told):
        run_id = await begun(stage, stage.model(script(says("Here."))))
        assert (await stage.client.output(run_id)).output == "Here."
        message = await last_message(stage, run_id)
        assert (message.attempt, message.usage.requests) == (2, 1)
        history = await recorded(stage.temporal, run_id)
        assert b"could not be asked" in history, "the failure is not recorded: the test shows nothing"
        assert b"canary" not in history


async def test_a_guard_that_never_answers_fails_the_call_and_no_model_is_asked(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    told = hooks(stage.folder, before_model_call="hanging", on_model_usage="use")
    async with worker_here(dev_server, stage.task_queue, stage.folder, model_hook_timeout="100ms", **TWO_EACH, **told):
        run_id = await begun(stage, stage.model(script(says("Never."))))
        with pytest.raises(RunFailedError, match=r"watchers.py:hanging, which must agree .* took longer than 0\.1 s"):
            await stage.client.output(run_id)
    assert notes(stage.folder) == []
