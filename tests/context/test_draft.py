from __future__ import annotations

from perdure.context.draft import Draft, append_system, append_tail
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.messages import TextPart, UserMessage

HELLO = UserMessage(message_id="u1", parts=(TextPart(text="Hello"),))
DRAFT = Draft(agent=FrozenAgent(name="a", model="demo:demo"), messages=(HELLO,))


def test_the_system_prompt_begins_when_there_is_none_and_grows_by_a_blank_line() -> None:
    once = append_system(DRAFT, "You keep the books.")
    assert once.system == "You keep the books."
    assert append_system(once, "Today is Friday.").system == "You keep the books.\n\nToday is Friday."


def test_blank_text_leaves_the_system_prompt_alone() -> None:
    assert append_system(DRAFT, " \n") == DRAFT


def test_the_tail_stands_after_every_message() -> None:
    assert append_tail(DRAFT, "clock", "It is noon.").messages == (
        HELLO,
        UserMessage(message_id="tail:clock", parts=(TextPart(text="It is noon."),)),
    )
