from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from perdure.activities.declaration import tool
from perdure.contracts.agent import AgentSpec, Limits, ToolPolicy
from perdure.contracts.requests import Answer, Approve, Cancel, Close, Deny, Interrupt, RunRequest, Send
from perdure.testing.assertions import assert_called, assert_same_transcript, assert_settled
from perdure.testing.engine import BEGIN, run_in_process
from perdure.testing.orders import when_asked, when_asking_model, when_calling, when_idle, when_said, when_waiting
from perdure.testing.script import asks, asks_badly, fails, says, script, thinks, together, unless_forced


@tool(effect="read")
def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


@tool(effect="write")
def write(text: str) -> str:
    """Write a text."""
    return f"wrote {text}"


@tool(effect="read")
def broken() -> str:
    """Never works."""
    raise ValueError("out of order")


@tool(handler="human")
def ask_human(question: str, options: list[str] | None = None) -> str:
    """Ask a person."""
    raise AssertionError("a person answers")


TOOLS = (add, write, broken, ask_human)


def a_conversation(message: str = "Hello", **wishes: Any) -> RunRequest:
    return RunRequest(message=message, conversation=True, **wishes)


async def test_a_model_that_answers_completes_the_run() -> None:
    run = await run_in_process("Hello", script=script(says("Good ", "day.")))

    assert (run.status, run.output.output, run.output.end) == ("completed", "Good day.", "completed")
    assert [message.message_id for message in run.messages] == ["u1", "t1s1"]


async def test_calls_run_and_their_results_reach_the_model() -> None:
    run = await run_in_process("1 + 2?", script=script(asks("add", a=1, b=2), says("3.")), tools=TOOLS)

    assert run.result("t1s1c1").text == "3"
    assert [message.message_id for message in run.requests[1].messages] == ["u1", "t1s1", "t1s1c1r"]


async def test_a_tool_that_raises_gives_an_error_result_and_the_run_goes_on() -> None:
    run = await run_in_process("Try.", script=script(asks("broken"), says("It is broken.")), tools=TOOLS)

    assert run.result("t1s1c1").status == "error"
    assert "out of order" in run.result("t1s1c1").text
    assert run.status == "completed"


async def test_results_stand_in_call_order_whatever_order_the_calls_ended_in() -> None:
    turns = [asyncio.Event() for _ in range(4)]
    turns[3].set()
    ended: list[int] = []

    @tool(effect="read")
    async def nth(number: int) -> int:
        """Ends after the one that was called next."""
        await turns[number].wait()
        ended.append(number)
        turns[number - 1].set()
        return number

    replies = script(together(*(asks("nth", number=number) for number in (1, 2, 3))), says("Done."))
    run = await run_in_process("Go.", script=replies, tools=[nth])

    assert ended == [3, 2, 1]
    assert [message.text for message in run.messages if message.role == "tool"] == ["1", "2", "3"]


async def test_what_asks_waits_and_the_run_stops_there_when_nobody_comes() -> None:
    run = await run_in_process("Write.", script=script(asks("write", text="a")), tools=TOOLS)

    assert run.status == "waiting_approval"
    assert [call.call_id for call in run.state.requests[0].calls] == ["t1s1c1"]


async def test_an_approved_call_runs_and_a_denied_one_does_not() -> None:
    run = await run_in_process(
        "Write.",
        script=script(together(asks("write", text="a"), asks("write", text="b")), says("Done.")),
        tools=TOOLS,
        orders=[when_waiting(Approve(call_id="t1s1c2")), when_waiting(Deny(call_id="t1s1c1", reason="not that"))],
    )

    assert (run.result("t1s1c1").status, run.result("t1s1c2").text) == ("denied", "wrote b")
    assert "not that" in run.result("t1s1c1").text


async def test_the_answer_of_a_person_is_the_result() -> None:
    run = await run_in_process(
        "Paint.",
        script=script(asks("ask_human", question="Which?", options=["red", "blue"]), says("Red it is.")),
        tools=TOOLS,
        orders=[when_asked(Answer(answer="red"))],
    )

    assert run.result("t1s1c1").text == "red"


async def test_no_human_means_that_nothing_waits() -> None:
    replies = script(together(asks("write", text="a"), asks("ask_human", question="Which?")), says("Then not."))
    run = await run_in_process(RunRequest(message="Write.", humans="none"), script=replies, tools=TOOLS)

    assert [run.result(call.call_id).status for call in run.calls] == ["denied", "denied"]
    assert run.output.output == "Then not."


async def test_the_forced_last_step_offers_no_tools_and_gives_guidance() -> None:
    always = unless_forced(asks("add", a=1, b=1), says("As far as I came."))
    run = await run_in_process(
        RunRequest(message="Go on.", limits=Limits(steps=3)), script=script(always, repeat_last=True), tools=TOOLS
    )

    assert (run.output.end, run.output.output) == ("step_limit", "As far as I came.")
    assert [bool(request.tools) for request in run.requests] == [True, True, False]
    assert run.requests[2].messages[-1].role == "user"


async def test_a_model_that_repeats_itself_is_told_so_and_keeps_its_tools() -> None:
    replies = script(*[asks("add", a=1, b=1)] * 2, says("Two."))
    request = RunRequest(message="Add.", limits=Limits(repeats=2))
    run = await run_in_process(request, script=replies, tools=TOOLS)

    assert [request.messages[-1].message_id for request in run.requests] == ["u1", "t1s1c1r", "tail:nudge"]
    assert all(request.tools for request in run.requests)


async def test_a_tool_that_polls_may_be_called_again_and_again() -> None:
    @tool(effect="read", polling=True)
    def ready() -> str:
        """Whether it is ready."""
        return "not yet"

    replies = script(*[asks("ready")] * 6, says("I give up."))
    run = await run_in_process(RunRequest(message="Wait.", limits=Limits(repeats=2)), script=replies, tools=[ready])

    assert (run.output.end, run.output.output) == ("completed", "I give up.")
    assert all(request.messages[-1].message_id != "tail:nudge" for request in run.requests)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [('{"a": 1, "b"', "cut"), ("not json", "JSON"), ('{"a": 1}', "b"), ("[1]", "object")],
    ids=["truncated", "malformed", "incomplete", "no object"],
)
async def test_arguments_that_cannot_be_used_are_answered_and_never_run(arguments: str, why: str) -> None:
    run = await run_in_process("Add.", script=script(asks_badly("add", arguments), says("Sorry.")), tools=TOOLS)

    assert run.result("t1s1c1").status == "invalid"
    assert why in run.result("t1s1c1").text
    assert "call_started" not in [event.kind for event in run.events]


async def test_the_bare_name_of_one_tool_is_understood_and_that_of_two_is_not() -> None:
    def served(name: str, reading: str) -> Any:
        @tool(name=name, effect="read")
        def measure() -> str:
            """Measure it."""
            return reading

        return measure

    tools = [served("sea__tide", "high"), served("sea__depth", "9 m"), served("well__depth", "4 m")]
    replies = script(together(asks("tide"), asks("depth")), says("Done."))
    run = await run_in_process("Measure.", script=replies, tools=tools)

    assert (run.result("t1s1c1").status, run.result("t1s1c1").text) == ("ok", "high")
    assert run.result("t1s1c2").status == "invalid"
    assert all(name in run.result("t1s1c2").text for name in ("sea__depth", "well__depth"))


async def test_failed_attempts_are_made_again_and_counted() -> None:
    run = await run_in_process("Hello", script=script(fails("rate_limited"), fails("overloaded", after=1), says("Hi.")))

    [_, answer] = run.messages
    assert answer.role == "assistant"
    assert (answer.text, answer.attempt, answer.usage.requests) == ("Hi.", 3, 3)
    assert len(run.requests) == 3


async def test_a_failure_that_asking_again_cannot_help_fails_the_run_at_once() -> None:
    run = await run_in_process("Hello", script=script(fails("authentication")))

    assert (run.status, len(run.requests)) == ("failed", 1)
    assert run.state.failure is not None
    assert run.state.failure.kind == "authentication"


async def test_attempts_end_some_time_and_what_they_took_is_counted() -> None:
    run = await run_in_process("Hello", script=script(fails("overloaded")))

    assert (run.status, len(run.requests)) == ("failed", 8)
    assert run.output.usage.requests == 8


async def test_an_unknown_agent_fails_the_run_and_names_the_known_ones() -> None:
    run = await run_in_process(RunRequest(message="Hello", agent="clerk"), script=script())

    assert run.state.failure is not None
    assert (run.status, run.state.failure.kind) == ("failed", "unknown_agent")
    assert run.failure == run.state.failure.message
    assert "assistant" in run.failure


async def test_an_agent_that_names_a_tool_that_is_not_there_fails_the_run() -> None:
    clerk = AgentSpec(name="clerk", tools=("fly",))
    run = await run_in_process(RunRequest(message="Hello", agent=clerk), script=script(), tools=TOOLS)

    assert run.status == "failed"
    assert "fly" in run.failure


async def test_an_agent_is_found_by_name_with_its_prompt_scope_policy_and_limits() -> None:
    policy = (ToolPolicy(tool="add", word="ask"),)
    clerk = AgentSpec(name="clerk", prompt="Be brief.", tools=("add",), policy=policy, limits=Limits(steps=7))
    run = await run_in_process(
        RunRequest(message="Hello", agent="clerk", limits=Limits(concurrency=2), model="scripted:mine"),
        script=script(asks("add", a=1, b=2)),
        tools=TOOLS,
        agents=[clerk],
    )

    agent = run.state.agent
    assert agent is not None
    assert (agent.model, agent.scope, agent.limits.steps, agent.limits.concurrency) == ("scripted:mine", ("add",), 7, 2)
    assert run.requests[0].system == "Be brief."
    assert run.status == "waiting_approval"


async def test_interrupted_in_the_middle_of_a_text_the_model_stops_there_and_the_text_is_kept() -> None:
    run = await run_in_process(
        a_conversation("Tell me."),
        script=script(says("Once ", "upon ", "a ", "time"), says("Hm?")),
        orders=[when_said("upon", Interrupt()), when_idle(Send(message="Stop."))],
    )

    interrupted = run.messages[1]
    assert interrupted.role == "assistant"
    assert (interrupted.text, interrupted.finish) == ("Once upon ", "interrupted")
    assert run.output.output == "Hm?"


async def test_a_model_that_is_stopped_before_it_was_asked_leaves_an_empty_message_that_no_model_sees() -> None:
    run = await run_in_process(
        a_conversation("Tell me."),
        script=script(says("Hm?")),
        orders=[when_asking_model(1, Interrupt()), when_idle(Send(message="Again."))],
    )

    assert [message.message_id for message in run.messages] == ["u1", "t1s1", "u2", "t2s1"]
    assert run.messages[1].role == "assistant"
    assert run.messages[1].parts == ()
    assert "t1s1" not in [message.message_id for message in run.requests[-1].messages]


async def test_a_running_call_is_stopped_and_settles_as_interrupted() -> None:
    stopped = asyncio.Event()

    @tool(effect="read")
    async def slow() -> str:
        """Takes for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ""

    @tool(effect="read")
    async def quick() -> str:
        """Lets others begin."""
        await asyncio.sleep(0)
        return "quick"

    run = await run_in_process(
        a_conversation(),
        script=script(together(asks("slow"), asks("quick")), says("unreached")),
        tools=[slow, quick],
        orders=[when_calling("slow", Send(message="And?")), when_calling("slow", Interrupt())],
    )

    assert_settled(run.messages)
    assert run.result("t1s1c1").status == "interrupted"
    assert [message.message_id for message in run.messages if message.role == "user"] == ["u1", "u2"]


async def test_a_cancel_ends_the_run_and_settles_its_calls() -> None:
    run = await run_in_process(
        "Write.",
        script=script(asks("write", text="a")),
        tools=TOOLS,
        orders=[when_waiting(Cancel(reason="late", actor="ana"))],
    )

    assert (run.status, run.result("t1s1c1").status) == ("canceled", "interrupted")
    assert Cancel(reason="late", actor="ana") in [event.order for event in run.events if event.kind == "order_received"]


async def test_a_resting_conversation_takes_messages_and_ends_when_it_is_closed() -> None:
    run = await run_in_process(
        a_conversation(),
        script=script(says("Hello."), says("Well.")),
        orders=[when_idle(Send(message="How are you?", client_key="k")), when_idle(Close())],
    )

    assert (run.status, run.output.turns, run.output.output) == ("completed", 2, "Well.")


async def test_a_conversation_that_rests_with_no_order_left_ends_as_if_its_time_were_over() -> None:
    run = await run_in_process(a_conversation(idle_timeout=timedelta(days=3)), script=script(says("Hello.")))

    assert run.status == "completed"
    assert run.events[-1].at is not None
    assert run.events[-1].at >= BEGIN + timedelta(days=3)


async def test_a_moment_that_never_comes_fails_the_test_and_says_which() -> None:
    with pytest.raises(AssertionError, match="Approve") as raised:
        await run_in_process(
            "Hello", script=script(says("Hi.")), orders=[when_waiting(Approve(call_id="t1s1c1", actor="ada"))]
        )

    assert "when calls wait for approval" in str(raised.value)
    assert "t1s1 assistant says: Hi." in str(raised.value)


async def test_a_script_that_ran_out_fails_the_test_and_shows_the_transcript() -> None:
    with pytest.raises(AssertionError) as caught:
        await run_in_process("Add.", script=script(asks("add", a=1, b=1)), tools=TOOLS)

    assert str(caught.value).startswith("The run is failed, and the model was asked for reply 2, and the script has 1.")
    assert 't1s1 assistant asks t1s1c1: add {"a": 1, "b": 1}' in str(caught.value)


async def test_replies_that_are_left_fail_the_test_unless_it_says_so() -> None:
    replies = script(says("Hi."), says("And?"), says("Well?"))

    with pytest.raises(AssertionError, match="never asked for: 2, 3 "):
        await run_in_process("Hello", script=replies)

    assert (await run_in_process("Hello", script=replies, partly=True)).output.output == "Hi."
    assert (await run_in_process("Hello", script=script(says("Hi."), repeat_last=True))).status == "completed"


async def test_a_run_that_failed_before_its_script_began_says_why() -> None:
    with pytest.raises(AssertionError, match="There is no agent named 'clerk'"):
        await run_in_process(RunRequest(message="Hello", agent="clerk"), script=script(says("Hi.")))


async def test_two_runs_of_one_script_are_equal_to_the_byte() -> None:
    replies = script(
        together(thinks("Hm."), says("I see."), asks("add", a=1, b=2), asks("write", text="ä"), asks("nope")),
        fails("overloaded"),
        says("Done."),
    )
    orders = [when_waiting(Approve(call_id="t1s1c2"))]
    runs = [await run_in_process("Go.", script=replies, tools=TOOLS, orders=orders) for _ in range(2)]

    assert_same_transcript(runs[0].messages, runs[1].messages)
    assert runs[0].state.model_dump_json() == runs[1].state.model_dump_json()
    assert runs[0].events == runs[1].events


async def test_cancelling_whoever_runs_it_leaves_no_work_behind() -> None:
    begun = asyncio.Event()

    @tool(effect="read")
    async def endless() -> None:
        """Takes for ever."""
        begun.set()
        await asyncio.Event().wait()

    before = asyncio.all_tasks()
    run = asyncio.create_task(run_in_process("Hello", script=script(asks("endless")), tools=[endless]))
    await begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert asyncio.all_tasks() == before


async def test_arguments_reach_a_tool_as_its_signature_says_and_the_data_comes_back() -> None:
    @tool(effect="read")
    def echo(values: list[float], note: str = "none") -> dict[str, JsonValue]:
        """Say it again."""
        return {"values": list(values), "note": note}

    run = await run_in_process("Say.", script=script(asks("echo", values=[1, 2.5]), says("Said.")), tools=[echo])

    assert assert_called(run.messages, "echo").data == {"values": [1.0, 2.5], "note": "none"}


def test_the_engine_needs_no_temporal() -> None:
    program = "import perdure.testing.engine, sys; sys.exit('temporalio' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


async def test_a_fallback_is_asked_in_process_as_by_a_worker() -> None:
    request = RunRequest(message="Hi", model="scripted:first", fallbacks=("scripted:second",))
    run = await run_in_process(request, script=script(fails("quota"), says("Done.")))
    (message,) = [message for message in run.messages if message.role == "assistant"]
    assert (run.status, message.model, message.attempt) == ("completed", "scripted:second", 2)
    assert [asked.model for asked in run.requests] == ["scripted:first", "scripted:second"]
