"""Repair: a transcript becomes one that any provider accepts, each call followed by its one result.

A transcript can hold calls without a result (a stop, a crash, an older release) and replies that never got a body.
Providers refuse the whole conversation for one of them. Each decision looks at a message and at what belongs to it
only, so that what was rendered once is rendered the same in every later call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from perdure.context.draft import Draft
from perdure.contracts.ids import result_message_id
from perdure.contracts.messages import AssistantMessage, AssistantPart, CallPart, Message, ToolMessage

NEVER_RAN = "This call never ran: the turn was stopped before it started."
NO_RESULT = "No result of this call was recorded. It may have taken effect: check before you call it again."


def drop_placeholders(draft: Draft) -> Draft:
    """Drop replies that hold nothing, and parts that say nothing: providers refuse empty text."""
    return replace(draft, messages=tuple(_without_placeholders(draft.messages)))


def _without_placeholders(messages: Iterable[Message]) -> Iterator[Message]:
    for message in messages:
        match message.role:
            case "user" | "tool":
                yield message
            case "assistant":
                parts = tuple(part for part in message.parts if _says_something(part))
                if parts:
                    yield message if len(parts) == len(message.parts) else message.model_copy(update={"parts": parts})
            case _:
                assert_never(message.role)


def _says_something(part: AssistantPart) -> bool:
    match part.kind:
        case "text" | "reasoning":
            return bool(part.text.strip()) or part.opaque is not None
        case "call" | "hosted" | "image" | "audio" | "file":
            return True
        case _:
            assert_never(part.kind)


def mend_arguments(draft: Draft) -> Draft:
    """Send calls whose arguments are not a JSON object with an empty one.

    The call's result tells the model what was wrong. Sent as written, many servers refuse the whole conversation,
    since they read the arguments of past calls again.
    """
    return replace(draft, messages=tuple(_mended(message) for message in draft.messages))


def _mended(message: Message) -> Message:
    if message.role != "assistant" or all(call.arguments is not None for call in message.calls):
        return message
    parts = tuple(
        part.model_copy(update={"arguments_text": "{}", "arguments": {}})
        if part.kind == "call" and part.arguments is None
        else part
        for part in message.parts
    )
    return message.model_copy(update={"parts": parts})


def pair_results(draft: Draft) -> Draft:
    """Put the first result of each call right after the calling message, in call order.

    A missing result gets a synthetic one; results without a call and later duplicates are dropped.
    """
    results: dict[str, ToolMessage] = {}
    for message in draft.messages:
        if message.role == "tool":
            results.setdefault(message.call_id, message)
    return replace(draft, messages=tuple(_paired(draft.messages, results)))


def _paired(messages: Iterable[Message], results: dict[str, ToolMessage]) -> Iterator[Message]:
    for message in messages:
        match message.role:
            case "user":
                yield message
            case "assistant":
                yield message
                for call in message.calls:
                    yield results.pop(call.call_id) if call.call_id in results else _missing(message, call)
            case "tool":
                pass
            case _:
                assert_never(message.role)


def _missing(message: AssistantMessage, call: CallPart) -> ToolMessage:
    stopped = message.finish == "interrupted"
    return ToolMessage(
        message_id=result_message_id(call.call_id),
        call_id=call.call_id,
        tool=call.tool,
        status="interrupted" if stopped else "unknown",
        text=NEVER_RAN if stopped else NO_RESULT,
    )
