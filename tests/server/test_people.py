"""People and runs: messages, responses, interrupts, from clients and from simple senders."""

from __future__ import annotations

import asyncio
import json
import subprocess
from datetime import timedelta
from typing import Any

import pytest

from perdure import AgentSpec, PerdureError, RunRequest
from perdure.contracts.errors import InvalidInputError, OrderRefusedError, RunAlreadyRunningError, RunNotFoundError
from perdure.contracts.messages import AssistantMessage, ToolMessage, UserMessage
from perdure.contracts.requests import Cancel
from perdure.providers.gate import Gate
from perdure.testing.script import asks, fails, held, says, script, together
from tests.server.stage import Stage
from tests.server.tools import effects
from tests.servers import binary, unique


async def waiting_for_approval(stage: Stage, *more: Any, **wishes: Any) -> str:
    """A run that waits for the approval of one call, `t1s1c1`."""
    run_id = await stage.start(script(asks("publish", text="news"), *(more or (says("Done."),))), **wishes)
    await stage.until_kind(run_id, "request_opened")
    return run_id


async def test_an_approved_call_runs_and_a_denied_one_never_does(stage: Stage) -> None:
    both = together(asks("publish", text="good"), asks("publish", text="bad"))
    run_id = await stage.start(script(both, says("Done.")))
    await stage.until_kind(run_id, "request_opened")
    assert (await stage.client.approve(run_id, "t1s1c1")).ids == ("t1s1c1",)
    await stage.client.deny(run_id, "t1s1c2", reason="not this one", actor="ada")
    assert (await stage.client.output(run_id)).output == "Done."
    results = await stage.results(run_id)
    assert [result.status for result in results] == ["ok", "denied"]
    assert results[1].text == "Denied by ada: not this one"
    assert effects(stage.folder) == ["publish good"]


async def test_of_three_calls_a_safe_one_runs_one_waits_one_is_settled_and_an_approved_one_starts_at_once(
    stage: Stage,
) -> None:
    slow, outside = asks("wait_then_look", name="slow", gate="gate"), asks("look", name="outside")
    agent = AgentSpec(tools=("wait_then_look", "publish"))
    run_id = await stage.start(script(together(slow, asks("publish", text="now"), outside), says("All.")), agent=agent)
    await stage.until_kind(run_id, "request_opened")
    await stage.client.approve(run_id)
    await stage.until(run_id, lambda event: event.kind == "call_ended" and event.result.call_id == "t1s1c2")
    assert effects(stage.folder) == ["publish now"]
    Gate(stage.folder / "gate").open()
    output = await stage.client.output(run_id)
    assert (output.output, output.steps) == ("All.", 2)
    assert [result.status for result in await stage.results(run_id)] == ["ok", "ok", "denied"]


async def test_free_text_is_never_taken_for_a_response(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage)
    await stage.client.send(run_id, "approve")
    assert (await stage.client.open_requests(run_id)).requests
    await stage.client.approve(run_id)
    await stage.client.output(run_id)
    kinds = [message.message_id for message in await stage.client.transcript(run_id)]
    assert kinds == ["u1", "t1s1", "t1s1c1r", "u2", "t1s2"]


async def test_two_messages_of_one_step_are_delivered_in_order_after_the_results(stage: Stage) -> None:
    run_id = await stage.start(script(asks("wait_then_look", name="a", gate="gate"), says("Answered.")))
    await stage.until_kind(run_id, "call_started")
    await stage.client.send(run_id, "first")
    await stage.client.send(run_id, "second")
    Gate(stage.folder / "gate").open()
    await stage.client.output(run_id)
    ids = [message.message_id for message in await stage.client.transcript(run_id)]
    assert ids == ["u1", "t1s1", "t1s1c1r", "u2", "u3", "t1s2"]


async def test_a_message_in_the_last_instant_is_answered_or_refused_but_never_lost(stage: Stage) -> None:
    for number in range(6):
        gate = Gate(stage.folder / f"gate-{number}")
        run_id = await stage.start(script(held(says("First answer."), gate.path), says("Second answer.")))
        await stage.until_kind(run_id, "model_called")
        sending = asyncio.create_task(stage.client.send(run_id, "One more thing."))
        await asyncio.to_thread(gate.open)
        try:
            await sending
        except OrderRefusedError:
            expected = ("First answer.", 1)
        else:
            expected = ("Second answer.", 2)
        output = await stage.client.output(run_id)
        assert (output.output, output.turns) == expected


async def test_the_same_message_twice_is_recorded_once(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage)
    first = await stage.client.send(run_id, "Only once.", client_key="key-1")
    again = await stage.client.send(run_id, "Only once.", client_key="key-1")
    assert first.ids == again.ids == ("u2",)
    await stage.client.approve(run_id)
    await stage.client.output(run_id)
    sent = [m for m in await stage.client.transcript(run_id) if isinstance(m, UserMessage) and m.client_key]
    assert len(sent) == 1


async def test_a_running_id_is_refused_and_an_ended_one_may_be_used_again(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage)
    with pytest.raises(RunAlreadyRunningError, match=run_id):
        await stage.start(script(says("Never.")), run_id=run_id)
    await stage.client.approve(run_id)
    await stage.client.output(run_id)
    assert await stage.start(script(says("Again.")), run_id=run_id) == run_id
    assert (await stage.client.output(run_id)).output == "Again."


async def test_a_question_is_answered_by_its_answer(stage: Stage) -> None:
    asked = asks("ask_human", question="Red or blue?", options=["red", "blue"])
    run_id = await stage.start(script(asked, says("Thanks.")))
    event = await stage.until_kind(run_id, "question_opened")
    assert event.kind == "question_opened"
    assert event.question.options == ("red", "blue")
    with pytest.raises(OrderRefusedError, match="one of: red, blue"):
        await stage.client.answer(run_id, "green")
    with pytest.raises(OrderRefusedError, match="Nothing waits for approval"):
        await stage.client.approve(run_id)
    await stage.client.answer(run_id, "blue")
    await stage.client.output(run_id)
    (result,) = await stage.results(run_id)
    assert (result.status, result.text) == ("ok", "blue")


async def test_with_no_human_nothing_waits(stage: Stage) -> None:
    both = together(asks("publish", text="x"), asks("ask_human", question="May I?"))
    run_id = await stage.start(script(both, says("I could not.")), humans="none")
    assert (await stage.client.output(run_id)).output == "I could not."
    results = await stage.results(run_id)
    assert [result.status for result in results] == ["denied", "denied"]
    assert effects(stage.folder) == []


async def test_an_interrupt_keeps_the_partial_text_and_the_conversation_goes_on(stage: Stage) -> None:
    stuck = held(says("I begin", " and never end"), stage.folder / "never", after=1)
    run_id = await stage.start(script(stuck, says("As you wish.")), conversation=True)
    await stage.until(run_id, lambda event: event.kind == "text_arrived")
    await stage.client.interrupt(run_id, turn=1, reason="too long", actor="ada")
    ended = await stage.until_turn_ended(run_id)
    assert (ended.end, ended.output) == ("interrupted", "I begin")
    await stage.client.send(run_id, "Something else.")
    again = await stage.until_turn_ended(run_id, 2)
    assert again.output == "As you wish."
    partial = (await stage.client.transcript(run_id))[1]
    assert isinstance(partial, AssistantMessage)
    assert partial.finish == "interrupted"
    await stage.client.cancel(run_id)


async def test_an_interrupt_of_a_resting_run_or_of_another_turn_is_answered_so(stage: Stage) -> None:
    run_id = await stage.start(script(says("Hello."), asks("publish", text="x")), conversation=True)
    await stage.until_turn_ended(run_id)
    with pytest.raises(OrderRefusedError, match="nothing to interrupt"):
        await stage.client.interrupt(run_id)
    await stage.client.send(run_id, "Publish.")
    await stage.until_kind(run_id, "request_opened")
    with pytest.raises(OrderRefusedError, match="Turn 1 is not running"):
        await stage.client.interrupt(run_id, turn=1)
    await stage.client.cancel(run_id)


async def test_after_a_cancel_no_waiting_call_ever_runs(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage)
    await stage.client.cancel(run_id, reason="enough", actor="ana")
    assert (await stage.client.output(run_id)).status == "canceled"
    told = [event async for event in stage.client.events(run_id, live=False)]
    assert Cancel(reason="enough", actor="ana") in [event.order for event in told if event.kind == "order_received"]
    with pytest.raises(OrderRefusedError):
        await stage.client.approve(run_id)
    result = (await stage.client.transcript(run_id))[-1]
    assert isinstance(result, ToolMessage)
    assert result.status == "interrupted"
    assert effects(stage.folder) == []


async def test_an_approval_by_the_temporal_command_line_lets_the_call_run(stage: Stage, dev_server: str) -> None:
    run_id = await waiting_for_approval(stage)
    signal = ["workflow", "signal", "--address", dev_server, "--workflow-id", run_id, "--name", "approve"]
    sent = await asyncio.to_thread(
        subprocess.run,
        [binary("temporal"), *signal, "--input", json.dumps({"call_id": "t1s1c1", "actor": "ops"})],
        capture_output=True,
        check=False,
        text=True,
    )
    assert sent.returncode == 0, sent.stderr
    assert (await stage.client.output(run_id)).output == "Done."
    assert effects(stage.folder) == ["publish news"]


@pytest.mark.parametrize("name", ["approve", "deny", "answer", "send", "interrupt", "close", "nonsense"])
@pytest.mark.parametrize("inputs", [[1, 2], [7], [[]], [{"call_id": 7, "message": 7, "turn": "x", "reason": 7}]])
async def test_a_malformed_signal_of_any_name_harms_no_run(stage: Stage, name: str, inputs: list[Any]) -> None:
    run_id = await waiting_for_approval(stage)
    await stage.temporal.get_workflow_handle(run_id).signal(name, args=inputs)
    summary = await stage.client.summary(run_id)
    assert (summary.status, summary.queued) == ("waiting_approval", 0)
    assert effects(stage.folder) == []
    await stage.client.approve(run_id)
    assert (await stage.client.output(run_id)).status == "completed"


@pytest.mark.parametrize("name", ["send", "answer", "nonsense"])
async def test_a_signal_without_an_input_harms_no_run(stage: Stage, name: str) -> None:
    run_id = await waiting_for_approval(stage)
    await stage.temporal.get_workflow_handle(run_id).signal(name)
    assert (await stage.client.summary(run_id)).status == "waiting_approval"
    await stage.client.approve(run_id)
    assert (await stage.client.output(run_id)).status == "completed"


@pytest.mark.parametrize("name", ["approve", "deny", "answer", "send", "interrupt", "close"])
async def test_an_unreadable_update_is_refused_with_a_reason_and_leaves_no_history(stage: Stage, name: str) -> None:
    run_id = await waiting_for_approval(stage)
    handle = stage.temporal.get_workflow_handle(run_id)
    before = len((await handle.fetch_history()).events)
    unreadable: list[list[Any]] = [[1, 2], [7], [[]]]
    for inputs in unreadable:
        with pytest.raises(Exception, match="update") as caught:
            await handle.execute_update(name, args=inputs)
        assert name in str(caught.value.__cause__)
    events = (await handle.fetch_history()).events[before:]
    assert not [event for event in events if event.HasField("workflow_execution_update_accepted_event_attributes")]
    await stage.client.cancel(run_id)


async def test_responses_for_what_does_not_wait_are_refused_with_a_reason(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage, asks("publish", text="more"), says("Done."))
    with pytest.raises(OrderRefusedError, match="no call t9s9c9"):
        await stage.client.approve(run_id, "t9s9c9")
    with pytest.raises(OrderRefusedError, match="other arguments"):
        await stage.client.approve(run_id, "t1s1c1", digest="0" * 32)
    await stage.client.approve(run_id, "t1s1c1")
    await stage.until_asked(run_id, "t1s2")
    with pytest.raises(OrderRefusedError, match="settled already"):
        await stage.client.approve(run_id, "t1s1c1")
    await stage.client.cancel(run_id)


async def test_bad_input_to_the_client_is_a_typed_error(stage: Stage) -> None:
    with pytest.raises(InvalidInputError, match="message is empty"):
        await stage.client.start("  ")
    for ask in (stage.client.summary, stage.client.transcript, stage.client.output, stage.client.cancel):
        with pytest.raises(RunNotFoundError, match="no-such-run"):
            await ask("no-such-run")
    with pytest.raises(RunNotFoundError, match="no-such-run"):
        await stage.client.approve("no-such-run")
    with pytest.raises(RunNotFoundError, match="no-such-run"):
        async for _ in stage.client.events("no-such-run"):
            pass


async def test_an_unknown_agent_fails_the_run_and_names_those_there_are(stage: Stage) -> None:
    run_id = await stage.client.start(RunRequest(message="Hello", agent="nobody"))
    with pytest.raises(PerdureError, match=r"no agent named 'nobody'.*assistant"):
        await stage.client.output(run_id)


@pytest.mark.parametrize("inputs", [[], [{}], [{"message": ""}], [{"message": 3}], ["x", "y"], [17], [None]])
async def test_a_start_that_cannot_be_read_fails_visibly(stage: Stage, inputs: list[Any]) -> None:
    handle = await stage.temporal.start_workflow(
        "AgentRun", args=inputs, id=f"bad-{stage.task_queue}", task_queue=stage.task_queue
    )
    with pytest.raises(Exception, match="failed") as caught:
        await handle.result()
    assert "message" in str(caught.value.__cause__)
    events = [event async for event in stage.client.events(handle.id)]
    assert events[-1].kind == "run_closed"


async def test_any_client_may_start_a_run_with_plain_json(stage: Stage) -> None:
    model = stage.model(script(says("Hello from JSON.")))
    handle = await stage.temporal.start_workflow(
        "AgentRun", {"message": "Hi", "model": model}, id=f"json-{stage.task_queue}", task_queue=stage.task_queue
    )
    assert (await handle.result())["output"] == "Hello from JSON."


async def test_an_interrupt_during_back_off_keeps_the_partial_text_and_is_quick(stage: Stage) -> None:
    failing = fails("overloaded", after=2, retry_after=timedelta(hours=1))
    run_id = await stage.start(script(failing, says("never", " asked", " again")), conversation=True)
    await stage.until(run_id, lambda event: event.kind == "retrying")
    await stage.client.interrupt(run_id)
    ended = await stage.until_turn_ended(run_id)
    assert (ended.end, ended.output) == ("interrupted", "never asked")
    await stage.client.cancel(run_id)


@pytest.mark.parametrize(
    "inputs",
    [
        [{"callId": "t1s1c1"}],
        [{"nope": 1}],
        [{"call_ids": []}],
        [{"call_id": ""}],
        [{"actor": "x"}],
        [{}],
        [None],
        [],
        [{"call_id": "t1s1c1", "remember": {"levle": "run"}}],
    ],
)
async def test_a_response_that_cannot_be_understood_whole_lets_nothing_run(stage: Stage, inputs: list[Any]) -> None:
    both = together(asks("publish", text="a"), asks("publish", text="b"))
    run_id = await stage.start(script(both, says("Done.")))
    await stage.until_kind(run_id, "request_opened")
    handle = stage.temporal.get_workflow_handle(run_id)
    await handle.signal("approve", args=inputs)
    await handle.signal("deny", args=inputs)
    assert (await stage.client.summary(run_id)).waiting_calls == ("t1s1c1", "t1s1c2")
    assert effects(stage.folder) == []
    await handle.signal("approve", {"all": True})
    assert (await stage.client.output(run_id)).output == "Done."


async def test_a_start_with_a_field_that_nobody_knows_is_refused(stage: Stage) -> None:
    for wish in ({"human": "none"}, {"limits": {"step": 3}}, {"agent": {"name": "x", "polcy": []}}):
        handle = await stage.temporal.start_workflow(
            "AgentRun", {"message": "Hi", **wish}, id=unique("typo"), task_queue=stage.task_queue
        )
        with pytest.raises(Exception, match="failed") as caught:
            await handle.result()
        assert "Extra inputs are not permitted" in str(caught.value.__cause__)
