"""What people say of a run: named, bounded, and judged by what was said before, with a worker and without one."""

from __future__ import annotations

from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError

from perdure.client.delivery import KEPT
from perdure.contracts.errors import InvalidInputError, OrderRefusedError, PerdureError
from perdure.contracts.ids import grant_book_id
from perdure.contracts.names import GRANT_BOOK, GRANTS_QUEUE
from perdure.contracts.requests import Approve, RunRequest
from perdure.contracts.sizes import LARGEST_MESSAGE
from perdure.testing.script import asks, says, script, together
from tests.server.stage import Stage, Workers, worker_here
from tests.server.tools import effects
from tests.servers import unique

NAMELESS: list[list[Any]] = [[], [{}], [None], [{"reason": "looks bad, do not"}], [{"all": False}], [{"all": "yes"}]]


async def publishing(stage: Stage, *texts: str, **wishes: Any) -> str:
    """A run that waits for approval of a call for each text."""
    calls = together(*(asks("publish", text=text) for text in texts or ("news",)))
    run_id = await stage.start(script(calls, says("Done.")), **wishes)
    await stage.until_kind(run_id, "request_opened")
    return run_id


async def asking(stage: Stage) -> str:
    """A run that waits for an answer."""
    run_id = await stage.start(script(asks("ask_human", question="Which colour?"), says("Done.")))
    await stage.until_kind(run_id, "question_opened")
    return run_id


@pytest.mark.parametrize("inputs", NAMELESS)
async def test_a_signal_that_names_no_call_lets_none_run_though_only_one_waits(stage: Stage, inputs: list[Any]) -> None:
    run_id = await publishing(stage)
    for name in ("approve", "deny"):
        await stage.temporal.get_workflow_handle(run_id).signal(name, args=inputs)

    assert (await stage.client.summary(run_id)).waiting_calls == ("t1s1c1",)
    assert effects(stage.folder) == []
    await stage.client.cancel(run_id)


async def test_a_late_nameless_signal_does_not_decide_what_waits_next(stage: Stage) -> None:
    run_id = await publishing(stage, "first", "second")
    await stage.client.deny(run_id, "t1s1c1")
    await stage.temporal.get_workflow_handle(run_id).signal("approve", None)

    assert (await stage.client.summary(run_id)).waiting_calls == ("t1s1c2",)
    await stage.client.cancel(run_id)


async def test_an_update_that_names_no_call_is_told_which_call_waits(stage: Stage) -> None:
    run_id = await publishing(stage)
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await stage.temporal.get_workflow_handle(run_id).execute_update("approve", {"reason": "fine"})

    assert isinstance(caught.value.cause, ApplicationError)
    assert "names no call. Waiting for approval: t1s1c1." in caught.value.cause.message
    await stage.client.cancel(run_id)


async def test_the_client_names_the_only_call_that_waits_and_refuses_to_choose_among_several(stage: Stage) -> None:
    run_id = await publishing(stage, "a", "b")
    with pytest.raises(OrderRefusedError, match="Waiting for approval: t1s1c1, t1s1c2"):
        await stage.client.approve(run_id)
    with pytest.raises(OrderRefusedError, match="Waiting for approval: t1s1c1, t1s1c2"):
        await stage.client.deny(run_id)
    await stage.client.deny(run_id, "t1s1c1")

    assert (await stage.client.approve(run_id)).ids == ("t1s1c2",)
    await stage.client.output(run_id)
    assert effects(stage.folder) == ["publish b"]
    with pytest.raises(OrderRefusedError, match="has ended"):
        await stage.client.approve(run_id)


async def test_all_that_waits_is_approved_when_that_is_said(stage: Stage) -> None:
    run_id = await publishing(stage, "a", "b")

    assert (await stage.client.tell(run_id, Approve(all=True))).ids == ("t1s1c1", "t1s1c2")
    await stage.client.output(run_id)


@pytest.mark.parametrize("name", ["approve", "deny", "answer", "send", "interrupt", "close"])
async def test_an_update_that_is_too_large_for_a_run_is_refused_with_the_limit(stage: Stage, name: str) -> None:
    run_id = await publishing(stage)
    large = {
        "answer": {"answer": "x" * 1_900_000},
        "send": {"message": "x" * 1_900_000},
    }.get(name, {"reason": "x" * 1_900_000})
    with pytest.raises(WorkflowUpdateFailedError) as caught:
        await stage.temporal.get_workflow_handle(run_id).execute_update(name, large)

    assert "too large together: 1,900," in str(caught.value.cause)
    await stage.client.approve(run_id)
    assert (await stage.client.output(run_id)).output == "Done."


@pytest.mark.parametrize("name", ["approve", "deny", "interrupt", "close"])
async def test_a_signal_that_is_too_large_changes_nothing(stage: Stage, name: str) -> None:
    run_id = await publishing(stage)
    signal = {"reason": "x" * 1_000_000} | ({"call_id": "t1s1c1"} if name in ("approve", "deny") else {})
    await stage.temporal.get_workflow_handle(run_id).signal(name, signal)

    assert (await stage.client.summary(run_id)).status == "waiting_approval"
    await stage.client.cancel(run_id)


async def test_the_client_sends_nothing_that_is_too_large(stage_without_worker: Stage) -> None:
    client, run_id = stage_without_worker.client, unique("none")
    tries = (
        client.approve(run_id, "t1s1c1", reason="x" * 3_000_000),
        client.answer(run_id, "x" * 3_000_000, call_id="t1s1c1"),
        client.send(run_id, "x" * 3_000_000),
        client.cancel(run_id, reason="x" * 3_000_000),
        client.start("x" * 3_000_000, run_id=run_id),
        client.start(RunRequest(message="Hi", metadata={"log": "x" * 3_000_000}), run_id=run_id),
    )
    for each in tries:
        with pytest.raises(InvalidInputError, match=r"too large together: 3,000,\d+ bytes"):
            await each


@pytest.mark.parametrize("run_id", ["a b", "é\n", "", "x" * 2_000, "perdure-grants:agent:clerk"])
async def test_no_run_starts_under_an_id_that_no_command_takes(stage_without_worker: Stage, run_id: str) -> None:
    with pytest.raises(InvalidInputError, match="is no id for a run"):
        await stage_without_worker.client.start("Hi", run_id=run_id)


async def test_a_start_of_another_client_that_is_too_large_ends_as_failed(stage: Stage) -> None:
    request = {"message": "Hi", "agent": {"name": "clerk", "prompt": "x" * LARGEST_MESSAGE}}
    handle = await stage.temporal.start_workflow("AgentRun", request, id=unique("large"), task_queue=stage.task_queue)
    with pytest.raises(WorkflowFailureError) as caught:
        await handle.result()

    assert "The start request is too large together" in str(caught.value.cause)


async def test_a_second_decision_that_no_worker_has_heard_is_judged_by_the_first(stage_without_worker: Stage) -> None:
    stage = stage_without_worker
    address = stage.client.address
    async with worker_here(address, stage.task_queue, stage.folder):
        decided, asked = await publishing(stage), await asking(stage)
    approved = await stage.client.approve(decided, "t1s1c1")
    answered = await stage.client.answer(asked, "blue")

    assert (approved.ids, approved.reason) == (("t1s1c1",), KEPT)
    assert (answered.ids, answered.reason) == (("t1s1c1",), KEPT)
    for second in (stage.client.deny(decided, "t1s1c1"), stage.client.approve(decided, "t1s1c1")):
        with pytest.raises(OrderRefusedError, match="t1s1c1 does not wait for a human"):
            await second
    with pytest.raises(OrderRefusedError, match="No question is open"):
        await stage.client.answer(asked, "red")
    async with worker_here(address, stage.task_queue, stage.folder):
        await stage.client.output(decided)
        await stage.client.output(asked)
    assert effects(stage.folder) == ["publish news"]
    assert [result.text for result in await stage.results(asked)] == ["blue"]


async def test_a_message_that_no_worker_has_heard_has_its_id_and_can_be_changed_and_taken_back(
    stage_without_worker: Stage,
) -> None:
    stage = stage_without_worker
    run_id = await stage.start(script(says("One."), says("Two.")))
    second, third = [await stage.client.send(run_id, text) for text in ("By the way.", "And another thing.")]
    assert (second.ids, third.ids) == (("u2",), ("u3",))
    await stage.client.edit(run_id, "u2", "On second thoughts.")
    await stage.client.withdraw(run_id, "u3")
    with pytest.raises(OrderRefusedError, match="There is no message u3"):
        await stage.client.withdraw(run_id, "u3")
    async with worker_here(stage.client.address, stage.task_queue, stage.folder):
        await stage.client.output(run_id)

    told = [message.parts[0] for message in await stage.client.transcript(run_id) if message.role == "user"]
    assert [part.text for part in told if part.kind == "text"] == ["Do it.", "On second thoughts."]


async def test_an_order_whose_worker_was_killed_is_recorded_with_what_it_touches(lone: Stage, worker: Workers) -> None:
    first = worker()
    run_id = await publishing(lone)
    first.kill()

    assert (await lone.client.approve(run_id)).ids == ("t1s1c1",)
    with pytest.raises(OrderRefusedError, match="t1s1c1"):
        await lone.client.deny(run_id, "t1s1c1")
    worker()
    assert (await lone.client.output(run_id)).output == "Done."


async def test_a_workflow_that_is_no_run_is_neither_shown_nor_told_nor_cancelled(stage: Stage) -> None:
    agent = unique("clerk")
    book = grant_book_id("agent", agent)
    await stage.temporal.start_workflow(GRANT_BOOK, id=book, task_queue=GRANTS_QUEUE)
    other = (await stage.temporal.start_workflow("SomebodyElses", id=unique("theirs"), task_queue="theirs")).id
    for workflow_id, told in ((book, "`perdure grants`"), (other, "of the type 'SomebodyElses'")):
        client = stage.client
        tries = (
            client.cancel(workflow_id),
            client.history(workflow_id),
            client.output(workflow_id),
            client.send(workflow_id, "Hi"),
            client.close(workflow_id),
            client.approve(workflow_id),
            anext(client.events(workflow_id)),
        )
        for each in tries:
            with pytest.raises(InvalidInputError, match=told):
                await each
    assert await stage.client.grants.of_agent(agent) == ()


async def test_no_run_of_another_client_takes_the_id_of_a_grant_book(stage: Stage) -> None:
    taken = await stage.temporal.start_workflow(
        "AgentRun", "Hi", id=grant_book_id("agent", unique("clerk")), task_queue=stage.task_queue
    )
    with pytest.raises(WorkflowFailureError) as caught:
        await taken.result()

    assert "it is that of a book of grants" in str(caught.value.cause)


async def test_a_withdrawal_that_stops_a_turn_says_what_else_goes_unanswered(stage: Stage) -> None:
    first = asks("wait_then_look", name="a", gate="gate")
    run_id = await stage.start(script(first, says("Done."), says("Done.")), conversation=True)
    await stage.until_kind(run_id, "call_started")
    await stage.client.withdraw(run_id, "u1")
    assert (await stage.until_turn_ended(run_id)).end == "failed"
    with pytest.raises(PerdureError):
        await stage.client.withdraw(run_id, "u1")
    await stage.client.cancel(run_id)


async def test_an_interrupt_names_the_turn_that_its_sender_means(stage: Stage) -> None:
    run_id = await asking(stage)

    await stage.client.interrupt(run_id, actor="ada")

    assert b'"turn":1' in next(
        event.workflow_execution_update_accepted_event_attributes.accepted_request.input.args.payloads[0].data
        for event in (await stage.temporal.get_workflow_handle(run_id).fetch_history()).events
        if event.HasField("workflow_execution_update_accepted_event_attributes")
    )
