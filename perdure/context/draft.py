"""The draft that the pipeline hands from processor to processor, and the places in it that processors may fill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from perdure.contracts.agent import FrozenAgent
from perdure.contracts.ids import tail_message_id
from perdure.contracts.messages import Message, TextPart, UserMessage
from perdure.contracts.tools import ToolSpec


@dataclass(frozen=True, slots=True)
class Draft:
    """A model request in the making.

    ``agent``, ``forced``, ``nudged`` and ``problem`` are what the request is for; a processor reads them and returns a
    draft with other ``system``, ``messages`` or ``tools``. ``forced`` asks for the answer now, without tools.
    ``nudged`` is for a model that repeats itself, ``problem`` says what is wrong with its last answer.
    """

    agent: FrozenAgent
    messages: tuple[Message, ...]
    forced: bool = False
    nudged: bool = False
    problem: str = ""
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Processor:
    """One stage of the pipeline: a pure function of the draft, and the name by which an error tells of it."""

    name: str
    function: Callable[[Draft], Draft]


def append_system(draft: Draft, text: str) -> Draft:
    """The draft with ``text`` at the end of the system prompt, after a blank line; it begins one when there is none."""
    if not text.strip():
        return draft
    return replace(draft, system=f"{draft.system}\n\n{text}" if draft.system else text)


def append_tail(draft: Draft, name: str, text: str) -> Draft:
    """The draft with one synthetic user message after all others.

    What changes from call to call belongs here and nowhere before, so that the rendered prefix stays equal.
    """
    message = UserMessage(message_id=tail_message_id(name), parts=(TextPart(text=text),))
    return replace(draft, messages=(*draft.messages, message))
