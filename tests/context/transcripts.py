"""Transcripts for property tests: any order of messages, and such as a run leaves that nothing disturbed."""

from __future__ import annotations

from hypothesis import strategies as st

from perdure.contracts.ids import call_id, model_message_id, result_message_id, user_message_id
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    CallPart,
    FilePart,
    FinishReason,
    Message,
    Opaque,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
)

FINISHES: tuple[FinishReason, ...] = ("stop", "length", "calls", "refused", "interrupted")
SIGNATURE = Opaque(origin="anthropic", data={"signature": "c2ln"})

texts = st.sampled_from(["", " \n", "Yes.", "Ünïcode \u2028 text"])
words = st.sampled_from(["Yes.", "Ünïcode \u2028 text"])


def user(number: int) -> UserMessage:
    return UserMessage(message_id=user_message_id(number), parts=(TextPart(text=f"message {number}"),))


def result(call: str, text: str = "done") -> ToolMessage:
    return ToolMessage(message_id=result_message_id(call), call_id=call, tool="add", text=text)


@st.composite
def replies(draw: st.DrawFn, number: int, *, empty: bool) -> AssistantMessage:
    """A reply with any mix of parts; without ``empty`` each part says something."""
    message_id = model_message_id(1, number)
    said = texts if empty else words
    kinds = draw(
        st.lists(st.sampled_from(["text", "reasoning", "signature", "file", "call", "broken"]), max_size=5)
        if empty
        else st.lists(st.sampled_from(["text", "reasoning", "signature", "file", "call"]), min_size=1, max_size=5)
    )
    parts: list[AssistantPart] = []
    for position, kind in enumerate(kinds, 1):
        match kind:
            case "text":
                parts.append(TextPart(text=draw(said)))
            case "reasoning":
                parts.append(ReasoningPart(text=draw(said)))
            case "signature":
                parts.append(ReasoningPart(opaque=SIGNATURE))
            case "file":
                parts.append(FilePart(url="https://example.org/a.pdf"))
            case "call":
                parts.append(CallPart(call_id=call_id(message_id, position), tool="add"))
            case _:
                parts.append(
                    CallPart(call_id=call_id(message_id, position), tool="add", arguments_text='{"a": ', arguments=None)
                )
    return AssistantMessage(
        message_id=message_id, parts=tuple(parts), model="demo:demo", finish=draw(st.sampled_from(FINISHES))
    )


@st.composite
def transcripts(draw: st.DrawFn) -> tuple[Message, ...]:
    """Messages in any order: results may be missing, doubled, orphaned, or stand before their call."""
    spoken: list[Message] = []
    for number in range(1, draw(st.integers(0, 6)) + 1):
        spoken.append(draw(st.one_of(st.just(user(number)), replies(number, empty=True))))
    calls = [call.call_id for message in spoken if message.role == "assistant" for call in message.calls]
    given = draw(st.lists(st.sampled_from([*calls, "t9s9c1"]), max_size=8))
    for count, call in enumerate(given):
        spoken.insert(draw(st.integers(0, len(spoken))), result(call, f"result {count}"))
    return tuple(spoken)


@st.composite
def settled_transcripts(draw: st.DrawFn) -> tuple[Message, ...]:
    """What an undisturbed run leaves: each reply says something, and each call has its result."""
    messages: list[Message] = [user(1)]
    for number in range(1, draw(st.integers(0, 5)) + 1):
        reply = draw(replies(number, empty=False))
        messages += [reply, *(result(call.call_id) for call in reply.calls)]
        if draw(st.booleans()):
            messages.append(user(number + 1))
    return tuple(messages)
