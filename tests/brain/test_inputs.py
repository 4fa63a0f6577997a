from __future__ import annotations

from perdure.brain.inputs import agent_query, call_context, judge_request
from perdure.contracts.agent import AgentSpec, Limits
from perdure.contracts.requests import Approve, RunRequest
from tests.brain.agents import a_call, an_agent
from tests.brain.runs import Led


def test_the_agent_is_asked_for_as_the_request_names_it() -> None:
    agent = AgentSpec(name="clerk", prompt="Be brief.")
    request = RunRequest(message="hi", agent=agent, model="demo:demo", limits=Limits(steps=3), workspace="/srv")

    query = agent_query(Led(request).state)

    assert (query.run_id, query.agent, query.model) == ("run", agent, "demo:demo")
    assert (query.limits, query.workspace) == (Limits(steps=3), "/srv")


def test_calls_are_judged_with_what_a_human_said_of_them() -> None:
    run = Led(RunRequest(message="hi", mode="auto", humans="available"))
    run.resolved()
    run.replied(a_call("write"), a_call("look"))
    run.judged(t1s1c1="ask")
    run.told(Approve(call_id="t1s1c1", actor="ada"))

    request = judge_request(run.state, ("t1s1c1",), run.now)

    [call] = request.calls
    assert call.response is not None
    assert (call.part.call_id, call.response.decision, call.response.actor) == ("t1s1c1", "approve", "ada")
    assert (request.tools, request.mode, request.humans) == (an_agent().tools, "auto", "available")


def test_a_tool_is_told_the_key_that_is_equal_in_every_attempt_and_unique_across_runs() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("look"))

    context = call_context(run.state, run.turn.batch[0])

    assert (context.run_id, context.call_id, context.tool) == ("run", "t1s1c1", "look")
    assert context.idempotency_key == "run/t1s1c1"
