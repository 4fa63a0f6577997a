from __future__ import annotations

from collections.abc import Callable

import pytest

from perdure.activities.declaration import tool
from perdure.contracts.messages import Message
from perdure.testing.assertions import (
    assert_called,
    assert_not_called,
    assert_said,
    assert_same_transcript,
    assert_settled,
)
from perdure.testing.engine import run_in_process
from perdure.testing.script import asks, says, script, together

Transcript = tuple[Message, ...]


@tool(effect="read")
def look(at: str) -> str:
    """Look somewhere."""
    return f"a view of {at}"


@pytest.fixture
async def messages() -> Transcript:
    replies = script(together(says("I look."), asks("look", at="home"), asks("look", at="sea")), says("Both are fine."))
    return (await run_in_process("Look.", script=replies, tools=[look])).messages


def failure_of(assertion: Callable[[], object]) -> str:
    with pytest.raises(AssertionError) as raised:
        assertion()
    return str(raised.value)


def test_what_is_so_passes(messages: Transcript) -> None:
    assert_said(messages, "fine")
    assert assert_called(messages, "look", at="sea").text == "a view of sea"
    assert_not_called(messages, "write")
    assert_settled(messages)
    assert_same_transcript(messages, messages)


def test_a_text_that_was_never_said_fails_with_the_transcript(messages: Transcript) -> None:
    told = failure_of(lambda: assert_said(messages, "bad"))

    assert "never said 'bad'" in told
    assert "t1s2 assistant says: Both are fine." in told


def test_a_user_message_is_nothing_that_the_assistant_said(messages: Transcript) -> None:
    assert "never said" in failure_of(lambda: assert_said(messages, "Look."))


def test_a_tool_that_was_never_called_fails_with_those_that_were(messages: Transcript) -> None:
    assert "Tools that it called: look." in failure_of(lambda: assert_called(messages, "write"))


def test_other_arguments_fail_with_those_that_were_given(messages: Transcript) -> None:
    told = failure_of(lambda: assert_called(messages, "look", at="moon"))

    assert "never with {'at': 'moon'}" in told
    assert '{"at": "home"}; {"at": "sea"}' in told


def test_a_call_without_a_result_fails(messages: Transcript) -> None:
    assert "t1s1c1 of look has no result yet" in failure_of(lambda: assert_called(messages[:2], "look"))


def test_a_call_that_should_not_have_been_made_fails_with_its_ids(messages: Transcript) -> None:
    assert "t1s1c1, t1s1c2" in failure_of(lambda: assert_not_called(messages, "look"))


def test_a_missing_a_misplaced_and_a_second_result_fail(messages: Transcript) -> None:
    user, reply, first, second, answer = messages

    assert "t1s1c2 have no result before t1s2" in failure_of(lambda: assert_settled((user, reply, first, answer)))
    assert "t1s1c1, t1s1c2 have no result." in failure_of(lambda: assert_settled((user, reply)))
    assert "where that of t1s1c1 belongs" in failure_of(lambda: assert_settled((user, reply, second, first, answer)))
    assert "where none belongs" in failure_of(lambda: assert_settled((user, reply, first, second, second, answer)))


def test_transcripts_that_differ_fail_with_the_first_difference(messages: Transcript) -> None:
    changed = messages[-1].model_copy(update={"message_id": "t9s9"})

    told = failure_of(lambda: assert_same_transcript(messages, (*messages[:-1], changed)))

    assert "Message 5 differs" in told
    assert "t9s9" in told


def test_a_transcript_that_is_longer_fails_with_what_is_more(messages: Transcript) -> None:
    told = failure_of(lambda: assert_same_transcript(messages, messages[:-1]))

    assert "has 5 messages, the other 4" in told
    assert "Both are fine." in told
