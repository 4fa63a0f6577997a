"""Asking a person: a tool that is answered by people and never runs."""

from __future__ import annotations

from perdure.activities.declaration import tool
from perdure.contracts.errors import ToolError
from perdure.contracts.names import ASK_HUMAN


@tool(name=ASK_HUMAN, handler="human")
def ask_human(question: str, options: list[str] | None = None, *, multiple: bool = False) -> str:
    """Ask the person you work for a question, and wait for the answer.

    Use it when you cannot go on without something that only they know or may decide; not to report or to chat.

    Args:
        question: The question, complete in itself: the person may read it without the conversation.
        options: The answers to choose from, when only certain ones make sense. Leave it out for a free answer.
        multiple: Whether several of the options may be chosen.
    """
    raise ToolError(f"Nobody can be asked here: {question!r} goes to people through the run, not to a worker.")
