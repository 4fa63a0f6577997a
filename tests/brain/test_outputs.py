from __future__ import annotations

import pytest
from pydantic import JsonValue

from perdure.brain.outputs import read_output
from tests.brain.agents import an_agent
from tests.brain.runs import Led, asked

COUNT: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"count": {"type": "number"}},
    "required": ["count"],
}


def a_run(feedback_rounds: int) -> Led:
    run = Led()
    run.resolved(an_agent(feedback_rounds=feedback_rounds).model_copy(update={"output": COUNT}))
    return run


@pytest.mark.parametrize("text", ['{"count": 3}', '```json\n{"count": 3}\n```', ' {"count": 3}\n'])
def test_the_object_in_an_answer_is_read_with_or_without_a_fence(text: str) -> None:
    assert read_output(text, COUNT) == ({"count": 3}, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("three", "It is no JSON: Expecting value"),
        ('{"count": NaN}', "It is no JSON: NaN is no JSON."),
        ('{"count": 1e999}', "It is no JSON: the number 1e999 is too large."),
        ('{"count": 1, "count": 2}', "It is no JSON: the key 'count' is there twice."),
        ('{"count": "3"}', "count: '3' is not of type 'number'."),
        ("{}", "It: 'count' is a required property."),
    ],
)
def test_what_does_not_fit_is_no_output_and_says_why(text: str, problem: str) -> None:
    value, said = read_output(text, COUNT)
    assert value is None
    assert said.startswith(problem)


def test_the_model_is_told_what_does_not_fit_and_the_turn_ends_with_it() -> None:
    run = a_run(feedback_rounds=1)

    again = asked(run.replied('{"count": NaN}'))
    run.replied("{}")

    assert [call.problem for call in again] == ["It is no JSON: NaN is no JSON."]
    ended = run.state.last_turn
    assert ended is not None
    assert ended.failure is not None
    assert (ended.end, ended.failure.kind, ended.failure.message) == (
        "invalid_output",
        "invalid_output",
        "The answer does not fit the output schema (asked 2 times): It: 'count' is a required property.",
    )
    assert run.state.failure == ended.failure


def test_subscribers_are_told_what_does_not_fit_and_the_object_at_the_end() -> None:
    run = a_run(feedback_rounds=1)
    run.replied("three")
    run.replied('```json\n{"count": 3}\n```')

    events = run.events
    problems = [event.problem for event in events if event.kind == "model_called"]
    assert problems == ["", "It is no JSON: Expecting value: line 1 column 1 (char 0)."]
    closed = events[-1]
    assert closed.kind == "run_closed"
    assert closed.data == {"count": 3}
