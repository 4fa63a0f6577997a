"""Who may say what, and when it counts, on a real server: deadlines, approvers, grants, and messages taken back."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType

from perdure import AgentSpec, RunFailedError, ToolPolicy
from perdure.contracts.agent import ApprovalRule, Waiting
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.messages import UserMessage
from perdure.contracts.requests import Remember
from perdure.providers.gate import Gate
from perdure.testing.script import asks, held, says, script, together
from tests.server.stage import Stage
from tests.server.tools import effects

SOON = timedelta(seconds=1)


def policy(**approval: Any) -> AgentSpec:
    """An agent whose publishing certain people must approve."""
    return AgentSpec(policy=(ToolPolicy(tool="publish", approval=ApprovalRule(**approval)),))


async def waiting_for_approval(stage: Stage, *more: Any, **wishes: Any) -> str:
    """A run that waits for the approval of one call, `t1s1c1`."""
    run_id = await stage.start(script(asks("publish", text="news"), *(more or (says("Done."),))), **wishes)
    await stage.until_kind(run_id, "request_opened")
    return run_id


async def said_by_people(stage: Stage, run_id: str) -> list[str]:
    """What the model was told by people."""
    told = [message for message in await stage.client.transcript(run_id) if isinstance(message, UserMessage)]
    return ["".join(part.text for part in message.parts if part.kind == "text") for message in told]


# Changed arguments


async def test_arguments_that_the_tool_does_not_take_are_refused_each_way_and_the_call_still_waits(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = await waiting_for_approval(stage)
    with pytest.raises(OrderRefusedError, match=r"t1s1c1 still waits: the changed arguments do not fit"):
        await stage.client.approve(run_id, "t1s1c1", arguments={"text": 5}, actor="ada")
    handle = stage.temporal.get_workflow_handle(run_id)
    await handle.signal("approve", {"call_id": "t1s1c1", "arguments": {"txt": "good news"}})
    await stage.client.approve(run_id, "t1s1c1", arguments={"text": "good news"}, actor="ada")

    assert (await stage.client.output(run_id)).output == "Done."
    assert effects(stage.folder) == ["publish good news"]
    (ignored,) = [record for record in caplog.records if record.getMessage().startswith("A signal was ignored")]
    assert "$.txt: is unknown" in ignored.__dict__["reason"]


# Deadlines


async def test_a_deadline_that_passes_denies_and_a_later_response_is_refused_as_late(stage: Stage) -> None:
    both = together(asks("publish", text="x"), asks("wait_then_look", name="a", gate="gate"))
    agent = AgentSpec(waiting=Waiting(deadline=SOON))
    run_id = await stage.start(script(both, says("Nobody came.")), agent=agent)
    opened = await stage.until_kind(run_id, "request_opened")
    assert opened.kind == "request_opened"
    assert opened.request.deadline == opened.request.opened_at + SOON
    passed = await stage.until_kind(run_id, "deadline_passed")
    assert passed.kind == "deadline_passed"
    assert (passed.call_id, passed.decision) == ("t1s1c1", "deny")
    with pytest.raises(OrderRefusedError, match="settled already: the deadline for a response has passed"):
        await stage.client.approve(run_id, "t1s1c1", actor="ada")

    Gate(stage.folder / "gate").open()
    assert (await stage.client.output(run_id)).output == "Nobody came."
    denied, _ = await stage.results(run_id)
    assert (denied.status, denied.text) == ("denied", "Denied: Nobody responded before the deadline.")
    assert effects(stage.folder) == ["look a"]


async def test_a_deadline_that_passes_approves_where_the_agent_says_so_and_a_later_response_is_refused_as_late(
    stage: Stage,
) -> None:
    agent = AgentSpec(policy=(ToolPolicy(tool="wait_then_look"),), waiting=Waiting(deadline=SOON, default="approve"))
    run_id = await stage.start(script(asks("wait_then_look", name="a", gate="gate"), says("Done.")), agent=agent)
    await stage.until_kind(run_id, "call_started")
    with pytest.raises(OrderRefusedError, match="the deadline for a response has passed"):
        await stage.client.deny(run_id, "t1s1c1", actor="ada")
    Gate(stage.folder / "gate").open()
    await stage.client.output(run_id)
    assert effects(stage.folder) == ["look a"]
    decisions = [event.decision async for event in stage.client.events(run_id) if event.kind == "deadline_passed"]
    assert decisions == ["approve"]


async def test_a_response_before_the_deadline_takes_it_away(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage, agent=AgentSpec(waiting=Waiting(deadline=timedelta(hours=1))))
    await stage.client.approve(run_id, actor="ada")
    await stage.client.output(run_id)
    assert effects(stage.folder) == ["publish news"]
    history = await stage.temporal.get_workflow_handle(run_id).fetch_history()
    timers = [event.event_type for event in history.events if "TIMER" in EventType.Name(event.event_type)]
    assert timers == [EventType.EVENT_TYPE_TIMER_STARTED, EventType.EVENT_TYPE_TIMER_CANCELED]


async def test_a_question_that_nobody_answers_in_time_tells_the_model_so(stage: Stage) -> None:
    agent = AgentSpec(waiting=Waiting(deadline=SOON, remind=SOON / 2))
    run_id = await stage.start(script(asks("ask_human", question="Which?"), says("Then not.")), agent=agent)
    assert (await stage.client.output(run_id)).output == "Then not."
    (unanswered,) = await stage.results(run_id)
    assert (unanswered.status, unanswered.text) == ("error", "Nobody responded before the deadline.")


# Who may approve


async def test_of_two_approvers_who_race_one_wins_and_the_other_is_told(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage, asks("wait_then_look", name="a", gate="gate"), says("Done."))
    answers = await asyncio.gather(
        stage.client.approve(run_id, "t1s1c1", actor="ada"),
        stage.client.approve(run_id, "t1s1c1", actor="bob"),
        return_exceptions=True,
    )
    (refused,) = [answer for answer in answers if isinstance(answer, BaseException)]
    assert isinstance(refused, OrderRefusedError)
    assert "t1s1c1" in str(refused)
    Gate(stage.folder / "gate").open()
    await stage.client.output(run_id)
    assert effects(stage.folder) == ["publish news", "look a"]


async def test_of_an_approval_and_a_denial_that_race_exactly_one_counts(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage)
    answers = await asyncio.gather(
        stage.client.deny(run_id, "t1s1c1", actor="ada"),
        stage.client.approve(run_id, "t1s1c1", actor="bob"),
        return_exceptions=True,
    )
    assert [isinstance(answer, OrderRefusedError) for answer in answers].count(True) == 1
    await stage.client.output(run_id)
    denied = not isinstance(answers[0], BaseException)
    assert effects(stage.folder) == ([] if denied else ["publish news"])


async def test_two_must_approve_and_one_of_them_twice_is_one(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage, agent=policy(needed=2, not_starter=True), user="cy")
    with pytest.raises(OrderRefusedError, match="cy started this run"):
        await stage.client.approve(run_id, actor="cy")
    first = await stage.client.approve(run_id, actor="ada")
    assert first.reason == "Further approvals are needed for t1s1c1."
    with pytest.raises(OrderRefusedError, match="ada has approved t1s1c1 already"):
        await stage.client.approve(run_id, actor="ada")
    # A signal has no answer, and no more say than an update.
    await stage.temporal.get_workflow_handle(run_id).signal("approve", {"call_id": "t1s1c1", "actor": "ada"})
    assert (await stage.client.summary(run_id)).waiting_calls == ("t1s1c1",)
    assert effects(stage.folder) == []
    assert (await stage.client.approve(run_id, actor="bob")).reason == ""
    await stage.client.output(run_id)
    assert effects(stage.folder) == ["publish news"]


async def test_what_the_second_approver_changed_the_first_must_approve_again(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage, agent=policy(needed=2))
    await stage.client.approve(run_id, actor="ada")
    await stage.client.approve(run_id, "t1s1c1", arguments={"text": "better news"}, actor="bob")
    (request,) = (await stage.client.open_requests(run_id)).requests
    assert request.calls[0].arguments == {"text": "better news"}
    await stage.client.approve(run_id, "t1s1c1", digest=request.calls[0].digest, actor="ada")
    await stage.client.output(run_id)
    assert effects(stage.folder) == ["publish better news"]
    (result,) = await stage.results(run_id)
    assert result.ran_with == {"text": "better news"}
    assert "A human changed the arguments" in result.text


async def test_the_same_script_with_no_human_ends_without_waiting_and_tells_the_model_of_each_call(
    stage: Stage,
) -> None:
    """What three people decide in one run, nobody is asked about in the other."""
    played = script(
        together(asks("look", name="a"), asks("publish", text="x"), asks("ask_human", question="Red?")),
        asks("publish", text="y"),
        says("As far as I came."),
    )
    agent = policy(approvers=("ada",))
    run_id = await stage.start(played, agent=agent, humans="none")
    assert (await stage.client.output(run_id)).output == "As far as I came."
    told_of = [(result.call_id, result.status) for result in await stage.results(run_id)]
    assert told_of == [("t1s1c1", "ok"), ("t1s1c2", "denied"), ("t1s1c3", "denied"), ("t1s2c1", "denied")]
    assert all("can be asked" in result.text for result in (await stage.results(run_id))[1:])
    kinds = [event.kind async for event in stage.client.events(run_id)]
    assert not {"request_opened", "question_opened", "deadline_passed"} & set(kinds)
    assert effects(stage.folder) == ["look a"]


# Grants


async def test_a_call_that_waits_is_decided_by_the_grant_that_its_sibling_gave(stage: Stage) -> None:
    played = script(
        together(asks("publish", text="x"), asks("publish", text="y")),
        asks("publish", text="z"),
        asks("publish", text="x"),
        says("Done."),
    )
    run_id = await stage.start(played)
    await stage.until_kind(run_id, "request_opened")
    await stage.client.approve(run_id, "t1s1c1", actor="ada", remember=Remember(when=()))
    await stage.until(run_id, lambda event: event.kind == "call_ended" and event.result.call_id == "t1s1c2")
    await stage.client.output(run_id)

    assert sorted(effects(stage.folder)) == ["publish x", "publish x", "publish y", "publish z"]
    events = [event async for event in stage.client.events(run_id)]
    verdicts = [each for event in events if event.kind == "calls_reviewed" for each in event.verdicts]
    by_grant = {each.call_id: each.verdict.reason for each in verdicts if each.verdict.rule == "grant"}
    assert set(by_grant) == {"t1s1c2", "t1s2c1", "t1s3c1"}
    assert all("g1 by ada" in reason for reason in by_grant.values())
    assert [event.kind for event in events].count("request_opened") == 1


async def test_a_revoked_grant_asks_again(stage: Stage) -> None:
    run_id = await waiting_for_approval(
        stage, asks("wait_then_look", name="a", gate="gate"), asks("publish", text="news"), says("Done.")
    )
    await stage.client.approve(run_id, remember=Remember(), actor="ada")
    (grant,) = (await stage.client.open_requests(run_id)).grants
    await stage.client.revoke(run_id, grant.grant_id, actor="bob")
    Gate(stage.folder / "gate").open()
    await stage.until_asked(run_id, "t1s3")
    with pytest.raises(OrderRefusedError, match="There is no grant g1"):
        await stage.client.revoke(run_id, grant.grant_id)
    await stage.client.approve(run_id)
    await stage.client.output(run_id)


# Messages


async def test_the_model_sees_the_final_form_of_what_was_queued_or_nothing(stage: Stage) -> None:
    run_id = await stage.start(script(asks("wait_then_look", name="a", gate="gate"), says("Answered.")))
    await stage.until_kind(run_id, "call_started")
    first = await stage.client.send(run_id, "first thought")
    second = await stage.client.send(run_id, "never mind")
    await stage.client.edit(run_id, first.ids[0], "second thought", actor="ada")
    await stage.client.withdraw(run_id, second.ids[0], actor="ada")
    with pytest.raises(OrderRefusedError, match="no message u3 in this run to reply to"):
        await stage.client.send(run_id, "as I said", reply_to=second.ids[0])
    Gate(stage.folder / "gate").open()
    await stage.client.output(run_id)
    assert await said_by_people(stage, run_id) == ["Do it.", "second thought"]


async def test_a_message_that_is_withdrawn_while_it_is_answered_ends_the_turn_and_the_next_one_is_answered(
    stage: Stage,
) -> None:
    stuck = held(says("I begin", " and never end"), stage.folder / "never", after=1)
    run_id = await stage.start(script(stuck, says("As you wish.")), conversation=True)
    await stage.until_kind(run_id, "text_arrived")
    await stage.client.withdraw(run_id, "u1", reason="wrong run", actor="ada")
    ended = await stage.until_turn_ended(run_id)
    assert ended.failure is not None
    assert (ended.end, ended.failure.kind) == ("failed", "message_gone")

    await stage.client.send(run_id, "Something else.")
    again = await stage.until_turn_ended(run_id, 2)
    assert again.output == "As you wish."
    await stage.client.close(run_id)
    assert (await stage.client.output(run_id)).status == "completed"


async def test_a_run_whose_only_message_was_withdrawn_fails_with_that_cause(stage: Stage) -> None:
    run_id = await waiting_for_approval(stage)
    await stage.client.withdraw(run_id, "u1", actor="ada")
    with pytest.raises(RunFailedError, match="withdrawn") as caught:
        await stage.client.output(run_id)
    assert caught.value.failure().kind == "message_gone"
    assert effects(stage.folder) == []


async def test_a_message_while_something_is_asked_is_answered_with_what_is_asked(stage: Stage) -> None:
    run_id = await stage.start(script(asks("ask_human", question="Red or blue?"), says("Thanks.")))
    await stage.until_kind(run_id, "question_opened")
    receipt = await stage.client.send(run_id, "blue")
    assert receipt.reason == "Queued as a message. A question is open (t1s1c1): answer it to go on."
    await stage.client.answer(run_id, "blue")
    await stage.client.output(run_id)


async def test_several_options_are_answered_with_several(stage: Stage) -> None:
    asked = asks("ask_human", question="Which?", options=["red", "green", "blue"], multiple=True)
    run_id = await stage.start(script(asked, says("Thanks.")))
    await stage.until_kind(run_id, "question_opened")
    with pytest.raises(OrderRefusedError, match="some of: red, green, blue"):
        await stage.client.answer(run_id, ("red", "black"))
    await stage.client.answer(run_id, ("red", "blue"))
    await stage.client.output(run_id)
    assert [(result.status, result.text) for result in await stage.results(run_id)] == [("ok", "red, blue")]


@pytest.mark.parametrize("name", ["edit", "withdraw", "revoke"])
@pytest.mark.parametrize("inputs", [[], [1, 2], [7], [[]], [{"message_id": 7, "grant_id": 7}], ["u9"]])
async def test_a_malformed_change_harms_no_run(stage: Stage, name: str, inputs: list[Any]) -> None:
    run_id = await waiting_for_approval(stage)
    await stage.client.send(run_id, "and this")
    await stage.temporal.get_workflow_handle(run_id).signal(name, args=inputs)
    summary = await stage.client.summary(run_id)
    assert (summary.status, summary.queued) == ("waiting_approval", 1)
    await stage.client.approve(run_id)
    assert (await stage.client.output(run_id)).status == "completed"


# Loop guards


async def test_a_model_that_repeats_itself_is_told_and_then_stopped(stage: Stage) -> None:
    run_id = await stage.start(
        script(asks("look", name="a"), repeat_last=True),
        limits={"repeats": 2},
    )
    with pytest.raises(RunFailedError, match="repeated_calls"):
        await stage.client.output(run_id)
    assert effects(stage.folder) == ["look a"] * 4
