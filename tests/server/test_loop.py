"""The loop on a real server: the cases about what a turn does and how it ends."""

from __future__ import annotations

import pytest

from perdure import RunFailedError
from perdure.contracts.messages import AssistantMessage
from perdure.providers.gate import Gate
from perdure.testing.script import asks, fails, says, script, thinks, together, unless_forced
from tests.server.stage import Stage


async def test_the_last_assistant_text_is_the_output(stage: Stage) -> None:
    run_id = await stage.start(script(together(says("First I look."), asks("look", name="a")), says("It is a.")))
    output = await stage.client.output(run_id)
    assert (output.status, output.end, output.output) == ("completed", "completed", "It is a.")


async def test_results_stand_in_call_order_whatever_order_they_ended_in(stage: Stage) -> None:
    calls = [asks("wait_then_look", name=name, gate=f"gate-{name}") for name in "abc"]
    run_id = await stage.start(script(together(*calls), says("Done.")))
    ended: list[str] = []
    opened = iter("cba")
    async for event in stage.client.events(run_id, live=False):
        if event.kind == "call_started" and event.call.call_id == "t1s1c3":
            Gate(stage.folder / f"gate-{next(opened)}").open()
        if event.kind == "call_ended":
            ended.append(event.result.call_id)
            if name := next(opened, None):
                Gate(stage.folder / f"gate-{name}").open()
    assert ended == ["t1s1c3", "t1s1c2", "t1s1c1"]
    assert [result.call_id for result in await stage.results(run_id)] == ["t1s1c1", "t1s1c2", "t1s1c3"]


@pytest.mark.parametrize(("how", "told"), [("kindly", "There is nothing here to find."), ("badly", "KeyError")])
async def test_a_tool_that_raises_gives_an_error_result_and_the_run_goes_on(stage: Stage, how: str, told: str) -> None:
    run_id = await stage.start(script(asks("stumble", how=how), says("Never mind.")))
    assert (await stage.client.output(run_id)).output == "Never mind."
    (result,) = await stage.results(run_id)
    assert result.status == "error"
    assert told in result.text
    assert "Traceback" not in result.text


async def test_the_last_step_is_asked_without_tools_and_its_text_is_the_output(stage: Stage) -> None:
    greedy = unless_forced(asks("look", name="more"), says("That is all I know."))
    run_id = await stage.start(script(greedy, repeat_last=True), limits={"steps": 3})
    output = await stage.client.output(run_id)
    assert (output.end, output.output, output.steps) == ("step_limit", "That is all I know.", 3)


async def test_after_a_step_limit_a_further_message_starts_a_new_turn(stage: Stage) -> None:
    greedy = unless_forced(asks("look", name="more"), says("Enough."))
    run_id = await stage.start(script(greedy, repeat_last=True), limits={"steps": 2}, conversation=True)
    await stage.until_turn_ended(run_id)
    await stage.client.send(run_id, "Go on.")
    second = await stage.until_turn_ended(run_id, 2)
    assert second.end == "step_limit"
    await stage.client.close(run_id)
    assert (await stage.client.output(run_id)).turns == 2


async def test_text_and_calls_of_one_message_are_both_kept_in_order(stage: Stage) -> None:
    run_id = await stage.start(script(together(thinks("Hm."), says("I look."), asks("look", name="a")), says("a")))
    await stage.client.output(run_id)
    first = next(m for m in await stage.client.transcript(run_id) if isinstance(m, AssistantMessage))
    assert [part.kind for part in first.parts] == ["reasoning", "text", "call"]


async def test_text_that_is_reasoning_only_is_the_output(stage: Stage) -> None:
    run_id = await stage.start(script(thinks("Forty-two, I think.")))
    assert (await stage.client.output(run_id)).output == "Forty-two, I think."


async def test_a_model_that_always_says_call_0_collides_nowhere(stage: Stage) -> None:
    twice = together(asks("look", name="a"), asks("look", name="b"))
    run_id = await stage.start(script(twice, twice, says("Done.")))
    await stage.client.output(run_id)
    found = await stage.results(run_id)
    assert [result.call_id for result in found] == ["t1s1c1", "t1s1c2", "t1s2c1", "t1s2c2"]
    assert [result.text[0] for result in found] == ["a", "b", "a", "b"]


async def test_a_retry_continues_the_same_message(stage: Stage) -> None:
    run_id = await stage.start(script(fails("overloaded", after=1), says("one ", "two")))
    assert (await stage.client.output(run_id)).output == "one two"
    messages = await stage.client.transcript(run_id)
    assert [message.message_id for message in messages] == ["u1", "t1s1"]
    assert isinstance(messages[1], AssistantMessage)
    assert messages[1].attempt == 2


async def test_an_empty_completion_is_a_fault_that_is_tried_again(stage: Stage) -> None:
    run_id = await stage.start(script(fails("bad_reply"), says("Here.")))
    assert (await stage.client.output(run_id)).output == "Here."


async def test_two_runs_of_one_script_give_equal_transcripts(stage: Stage) -> None:
    played = script(together(asks("look", name="a"), asks("look", name="b")), says("Done."))
    transcripts = []
    for _ in range(2):
        run_id = await stage.start(played)
        await stage.client.output(run_id)
        messages = await stage.client.transcript(run_id)
        transcripts.append("\n".join(m.model_dump_json(exclude={"model"}) for m in messages))
    assert transcripts[0] == transcripts[1]


async def test_a_failure_that_no_retry_mends_fails_the_run_with_its_cause(stage: Stage) -> None:
    run_id = await stage.start(script(fails("authentication", detail="the key is wrong")))
    with pytest.raises(RunFailedError, match="the key is wrong") as caught:
        await stage.client.output(run_id)
    assert caught.value.cause.kind == "authentication"
    assert caught.value.cause.attribution == "operator"


async def test_a_failed_turn_does_not_end_a_conversation(stage: Stage) -> None:
    run_id = await stage.start(script(fails("authentication")), conversation=True)
    ended = await stage.until_turn_ended(run_id)
    assert ended.end == "failed"
    await stage.client.close(run_id)
    assert (await stage.client.output(run_id)).status == "completed"


async def test_an_argument_of_three_megabytes_settles_with_feedback_and_never_hangs(stage: Stage) -> None:
    run_id = await stage.start(script(asks("look", name="x" * 3_000_000), says("Too much, I see.")))
    assert (await stage.client.output(run_id)).output == "Too much, I see."
    (result,) = await stage.results(run_id)
    assert result.status == "invalid"
    assert "3000012 bytes" in result.text


async def test_an_answer_of_a_megabyte_is_recorded_whole_and_its_live_text_stays_bounded(stage: Stage) -> None:
    text = "0123456789" * 100_000
    pieces = [text[start : start + 20_000] for start in range(0, len(text), 20_000)]
    run_id = await stage.start(script(says(*pieces)))
    assert (await stage.client.output(run_id)).output == text


async def test_a_result_of_twenty_megabytes_is_cut_with_a_note(stage: Stage) -> None:
    run_id = await stage.start(script(asks("look", name="a", size=20_000_000), says("A lot.")))
    assert (await stage.client.output(run_id)).output == "A lot."
    (result,) = await stage.results(run_id)
    assert len(result.text) < 70_000
    assert "cut" in result.text.lower() or "left out" in result.text.lower()
