"""Typed output: validated, mended within the limits, and read as what was asked for."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from perdure import RunFailedError, RunRequest
from perdure.contracts.errors import InvalidInputError
from perdure.testing.script import asks, says, script
from tests.server.stage import Stage


class Place(BaseModel):
    """What the runs of these tests are asked for."""

    name: str
    people: int


GOOD = '{"name": "Ghent", "people": 265000}'


async def started(stage: Stage, *replies: str, **wishes: object) -> str:
    """A run that must give a `Place`, whose model says these replies."""
    request = RunRequest(message="Which town?", model=stage.model(script(*map(says, replies))), **wishes)
    run_id = await stage.client.start(request, output=Place)
    stage.started.append(run_id)
    return run_id


@pytest.mark.parametrize("reply", [GOOD, f"```json\n{GOOD}\n```", f"  {GOOD}\n"])
async def test_an_answer_that_fits_is_read_as_what_was_asked_for(stage: Stage, reply: str) -> None:
    run_id = await started(stage, reply)
    assert await stage.client.result(run_id, Place) == Place(name="Ghent", people=265000)


@pytest.mark.parametrize("bad", ["Ghent, of course.", '{"name": "Ghent"}', '{"name": "Ghent", "people": "many"}', "[]"])
async def test_an_answer_that_does_not_fit_is_asked_for_again(stage: Stage, bad: str) -> None:
    run_id = await started(stage, bad, GOOD)
    assert (await stage.client.result(run_id, Place)).people == 265000
    ids = [message.message_id for message in await stage.client.transcript(run_id)]
    assert ids == ["u1", "t1s1", "t1s2"]


async def test_an_answer_that_never_fits_fails_the_run_within_the_limits(stage: Stage) -> None:
    run_id = await started(stage, "one", "two", "three", "four", limits={"feedback_rounds": 2})
    with pytest.raises(
        RunFailedError, match=r"does not fit the output schema \(asked 3 times\): It is no JSON"
    ) as caught:
        await stage.client.result(run_id, Place)
    assert caught.value.failure().kind == "invalid_output"
    events = [event async for event in stage.client.events(run_id)]
    ended = next(event for event in events if event.kind == "turn_ended")
    assert (ended.end, ended.data) == ("invalid_output", None)
    assert len([event for event in events if event.kind == "model_answered"]) == 3


async def test_calls_come_before_the_answer_as_ever(stage: Stage) -> None:
    model = stage.model(script(asks("look", name="Ghent"), says(GOOD)))
    run_id = await stage.client.start(
        RunRequest(message="Which town?", model=model, workspace=str(stage.folder)), output=Place
    )
    assert (await stage.client.result(run_id, Place)).name == "Ghent"


async def test_a_schema_that_is_none_starts_no_run(stage: Stage) -> None:
    request = RunRequest(message="Hi", model=stage.model(script(says("{}"))), output={"type": "nonsense"})
    with pytest.raises(InvalidInputError, match="output schema"):
        await stage.client.start(request)


async def test_numbers_that_are_no_json_are_asked_for_again(stage: Stage) -> None:
    run_id = await started(stage, '{"name": "Ghent", "people": NaN}', GOOD)
    assert (await stage.client.result(run_id, Place)).people == 265000
    events = [event async for event in stage.client.events(run_id, live=False)]
    asked = [event.problem for event in events if event.kind == "model_called"]
    assert asked == ["", "It is no JSON: NaN is no JSON."]
    closed = events[-1]
    assert closed.kind == "run_closed"
    assert closed.data == {"name": "Ghent", "people": 265000}


async def test_reading_an_output_as_something_else_says_so(stage: Stage) -> None:
    run_id = await stage.start(script(says("free text")))
    with pytest.raises(InvalidInputError, match="no Place"):
        await stage.client.result(run_id, Place)
