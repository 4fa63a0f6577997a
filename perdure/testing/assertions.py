"""Assertions on a transcript. Each failure shows the transcript and says what is missing from it.

They take messages, so they serve a `RunRecord` of the engine in process (``run.messages``) as well as the transcript of
a real run (``await client.transcript(run_id)``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from perdure.contracts.messages import AssistantMessage, CallPart, Message, ToolMessage
from perdure.testing.record import shown


def assert_said(messages: Sequence[Message], text: str) -> None:
    """The assistant said ``text`` in some message, perhaps among more."""
    if not any(text in message.text for message in _replies(messages)):
        raise AssertionError(f"The assistant never said {text!r}.\n{shown(messages)}")


def assert_called(messages: Sequence[Message], tool: str, /, **arguments: JsonValue) -> ToolMessage:
    """The model called the tool with these arguments, perhaps among more; the result of the first such call.

    Raises AssertionError also when that call has no result: look at it in the transcript that is shown.
    """
    calls = [call for call in _calls(messages) if call.tool == tool]
    if not calls:
        asked = ", ".join(dict.fromkeys(call.tool for call in _calls(messages))) or "none"
        raise AssertionError(f"The model never called {tool}. Tools that it called: {asked}.\n{shown(messages)}")
    matching = [call for call in calls if arguments.items() <= (call.arguments or {}).items()]
    if not matching:
        given = "; ".join(call.arguments_text for call in calls)
        raise AssertionError(
            f"The model called {tool}, but never with {arguments}. Arguments that it gave: {given}.\n{shown(messages)}"
        )
    results = {message.call_id: message for message in messages if message.role == "tool"}
    first = matching[0].call_id
    if first not in results:
        raise AssertionError(f"The call {first} of {tool} has no result yet.\n{shown(messages)}")
    return results[first]


def assert_not_called(messages: Sequence[Message], tool: str) -> None:
    """The model never called the tool."""
    calls = [call.call_id for call in _calls(messages) if call.tool == tool]
    if calls:
        raise AssertionError(f"The model called {tool}: {', '.join(calls)}.\n{shown(messages)}")


def assert_settled(messages: Sequence[Message]) -> None:
    """Every call has exactly one result, which follows its message at once and in call order."""
    awaited: list[str] = []
    for message in messages:
        if message.role == "tool":
            if awaited[:1] != [message.call_id]:
                expected = f"that of {awaited[0]}" if awaited else "none"
                raise AssertionError(f"{message.message_id} stands where {expected} belongs.\n{shown(messages)}")
            del awaited[0]
        elif awaited:
            raise AssertionError(f"{', '.join(awaited)} have no result before {message.message_id}.\n{shown(messages)}")
        elif message.role == "assistant":
            awaited = [call.call_id for call in message.calls]
    if awaited:
        raise AssertionError(f"{', '.join(awaited)} have no result.\n{shown(messages)}")


def assert_same_transcript(one: Sequence[Message], other: Sequence[Message]) -> None:
    """Both transcripts are equal to the byte, ids included. The failure names the first message that differs."""
    for position, (left, right) in enumerate(zip(one, other, strict=False)):
        if left.model_dump_json() != right.model_dump_json():
            raise AssertionError(
                f"Message {position + 1} differs:\n{left.model_dump_json(indent=1)}\n{right.model_dump_json(indent=1)}"
            )
    if len(one) != len(other):
        longer = max(one, other, key=len)
        rest = shown(longer[min(len(one), len(other)) :])
        raise AssertionError(f"One transcript has {len(one)} messages, the other {len(other)}. What is more:\n{rest}")


def _replies(messages: Sequence[Message]) -> Iterator[AssistantMessage]:
    return (message for message in messages if message.role == "assistant")


def _calls(messages: Sequence[Message]) -> Iterator[CallPart]:
    return (call for message in _replies(messages) for call in message.calls)
