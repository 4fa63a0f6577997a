from __future__ import annotations

import pytest
from pydantic import JsonValue

from perdure.brain.results import ARGUMENT_BYTES, tool_result
from tests.brain.agents import a_call, an_agent
from tests.brain.runs import Led, kinds

PART = a_call("look").model_copy(update={"call_id": "t1s1c1"})


def test_what_a_tool_of_ours_returns_keeps_status_text_and_data() -> None:
    result = tool_result(PART, {"text": "two files", "data": ["a", "b"], "status": "error"})

    assert (result.message_id, result.call_id, result.tool) == ("t1s1c1r", "t1s1c1", "look")
    assert (result.status, result.text, result.data) == ("error", "two files", ["a", "b"])


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("plain text", "plain text"),
        ([1, 2], "[1, 2]"),
        (None, "null"),
        (7, "7"),
        ({}, "{}"),
        ({"temperature": 12}, '{"temperature": 12}'),
        ({"status": "ok"}, '{"status": "ok"}'),
        ({"text": "hi", "status": "weird"}, '{"text": "hi", "status": "weird"}'),
        ({"text": "hi", "author": "ada"}, '{"text": "hi", "author": "ada"}'),
    ],
)
def test_any_json_of_a_foreign_worker_becomes_text_and_data(returned: JsonValue, text: str) -> None:
    result = tool_result(PART, returned)

    assert (result.status, result.text, result.data) == ("ok", text, returned)


def test_a_foreign_worker_may_return_the_text_alone_and_a_newer_one_of_ours_more_than_we_know() -> None:
    assert tool_result(PART, {"text": "hi"}).text == "hi"
    assert tool_result(PART, {"text": "hi", "status": "error", "data": None, "later": 1}).status == "error"


def test_an_allowed_call_of_a_tool_that_is_not_served_settles_as_unavailable_and_never_runs() -> None:
    run = Led()
    run.resolved()
    run.replied(a_call("gone"), a_call("look"))
    instructions = run.judged(t1s1c1="allow", t1s1c2="allow")

    assert run.result("t1s1c1")[0] == "unavailable"
    assert kinds(instructions) == ["call_tools", "settle_calls"]


def test_a_call_whose_arguments_are_too_large_settles_with_the_sizes_and_never_runs() -> None:
    run = Led()
    run.resolved(an_agent())
    text = '{"content": "' + "x" * ARGUMENT_BYTES + '"}'
    run.replied(a_call("look").model_copy(update={"arguments_text": text}))
    instructions = run.judged(t1s1c1="allow")

    status, said = run.result("t1s1c1")
    assert status == "invalid"
    assert f"{len(text)} bytes, at most {ARGUMENT_BYTES}" in said
    assert "call_tools" not in kinds(instructions)
