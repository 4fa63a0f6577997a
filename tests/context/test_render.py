from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.context.draft import Draft, Processor
from perdure.context.render import GUIDANCE, NUDGE, PIPELINE, render
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.errors import RenderError
from perdure.contracts.messages import Message, TextPart, UserMessage
from perdure.contracts.tools import ToolSpec
from tests.context.transcripts import settled_transcripts, transcripts

AGENT = FrozenAgent(
    name="clerk", prompt="You keep the books.", model="demo:demo", tools=(ToolSpec(name="add"), ToolSpec(name="send"))
)
HELLO = UserMessage(message_id="u1", parts=(TextPart(text="Hello"),))


def test_a_request_has_the_prompt_the_transcript_and_the_tools() -> None:
    request = render(AGENT, (HELLO,))
    assert (request.model, request.system) == ("demo:demo", "You keep the books.")
    assert request.messages == (HELLO,)
    assert [tool.name for tool in request.tools] == ["add", "send"]


def test_only_tools_of_the_scope_are_offered() -> None:
    scoped = AGENT.model_copy(update={"scope": ("send",)})
    assert [tool.name for tool in render(scoped, (HELLO,)).tools] == ["send"]
    assert render(AGENT.model_copy(update={"scope": ()}), (HELLO,)).tools == ()


def test_a_forced_request_has_no_tools_and_ends_with_guidance() -> None:
    request = render(AGENT, (HELLO,), forced=True)
    assert request.tools == ()
    assert request.messages[0] == HELLO
    last = request.messages[-1]
    assert last.role == "user"
    assert last.parts == (TextPart(text=GUIDANCE),)


def test_a_nudged_request_keeps_its_tools_and_ends_with_the_nudge() -> None:
    plain, nudged = render(AGENT, (HELLO,)), render(AGENT, (HELLO,), nudged=True)
    assert (nudged.tools, nudged.messages[:-1]) == (plain.tools, plain.messages)
    assert nudged.messages[-1] == UserMessage(message_id="tail:nudge", parts=(TextPart(text=NUDGE),))


def test_whoever_must_answer_now_is_not_told_about_repeating() -> None:
    assert render(AGENT, (HELLO,), forced=True, nudged=True) == render(AGENT, (HELLO,), forced=True)


def test_an_agent_without_a_prompt_has_no_system_prompt() -> None:
    assert render(AGENT.model_copy(update={"prompt": " \n"}), (HELLO,)).system == ""


def test_a_processor_that_fails_is_named_in_the_error() -> None:
    def broken(draft: Draft) -> Draft:
        raise KeyError("budget")

    with pytest.raises(RenderError, match="'inject_budget' failed: KeyError: 'budget'") as caught:
        render(AGENT, (HELLO,), pipeline=(*PIPELINE, Processor("inject_budget", broken)))
    assert caught.value.failure().kind == "internal"


def test_a_processor_of_ones_own_joins_the_pipeline() -> None:
    def sign(draft: Draft) -> Draft:
        return replace(draft, system=draft.system + "\n\nSign with C.")

    assert render(AGENT, (HELLO,), pipeline=(*PIPELINE, Processor("sign", sign))).system.endswith("Sign with C.")


@given(transcripts(), st.booleans())
def test_every_call_is_followed_by_exactly_one_result_before_anybody_else_speaks(
    messages: tuple[Message, ...], forced: bool
) -> None:
    rendered = render(AGENT, messages, forced=forced).messages
    expected: list[str] = []
    for message in rendered:
        if message.role == "tool":
            assert expected, "a result without a call, or a second one"
            assert message.call_id == expected.pop(0)
        else:
            assert not expected, "a call without a result"
            if message.role == "assistant":
                assert message.parts
                expected = [call.call_id for call in message.calls]
    assert not expected


@given(transcripts(), st.booleans())
def test_nothing_that_people_said_is_lost(messages: tuple[Message, ...], forced: bool) -> None:
    rendered = render(AGENT, messages, forced=forced).messages
    said = [message for message in messages if message.role == "user"]
    assert [message for message in rendered if message.role == "user"][: len(said)] == said


@given(settled_transcripts())
def test_a_valid_transcript_is_rendered_as_it_stands(messages: tuple[Message, ...]) -> None:
    assert render(AGENT, messages).messages == messages


@given(transcripts(), st.data())
def test_what_was_rendered_stays_a_prefix_of_every_later_request(
    messages: tuple[Message, ...], data: st.DataObject
) -> None:
    settled = [at for at in range(len(messages) + 1) if _settled(messages, at)]
    now = data.draw(st.sampled_from(settled))
    earlier, later = render(AGENT, messages[:now]), render(AGENT, messages)
    assert later.messages[: len(earlier.messages)] == earlier.messages
    assert (later.system, later.tools) == (earlier.system, earlier.tools)


def _settled(messages: tuple[Message, ...], at: int) -> bool:
    """Whether no result that comes at ``at`` or later belongs to a call before it: nothing rendered can change."""
    proposed = {call.call_id for message in messages[:at] if message.role == "assistant" for call in message.calls}
    answered = {message.call_id for message in messages[:at] if message.role == "tool"}
    return all(message.call_id not in proposed - answered for message in messages[at:] if message.role == "tool")
