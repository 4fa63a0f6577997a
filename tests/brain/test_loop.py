from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure.brain.ending import ended
from perdure.brain.loop import Loop
from tests.brain.agents import START
from tests.brain.chaos import World, walk
from tests.brain.invariants import events_tell_the_whole_run, holds
from tests.brain.promises import kept


def picking(data: st.DataObject) -> Any:
    return lambda options: data.draw(st.sampled_from(options))


@given(data=st.data(), steps=st.integers(0, 40))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_whatever_happens_a_run_stays_sound_and_comes_to_rest(data: st.DataObject, steps: int) -> None:
    world = walk(picking(data), steps, holds)

    state = world.state
    assert ended(state) or state.status == "idle"
    results = [message.call_id for message in state.messages if message.role == "tool"]
    calls = [call.call_id for message in state.messages if message.role == "assistant" for call in message.calls]
    assert sorted(results) == sorted(calls)
    events_tell_the_whole_run(world)
    kept(world.advances)


@given(data=st.data(), steps=st.integers(0, 40))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_the_same_outcomes_lead_to_the_same_state(data: st.DataObject, steps: int) -> None:
    def nothing(_: World, __: object) -> None: ...

    world = walk(picking(data), steps, nothing)

    again, _ = Loop.begin("run", world.request, START)
    for outcome in world.fed:
        again.feed(outcome)
    assert again.state.model_dump_json() == world.state.model_dump_json()
