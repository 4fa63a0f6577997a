"""Growing the transcript: the only place where messages join it, so that its digest never misses one."""

from __future__ import annotations

from perdure.contracts.digests import extend_digest
from perdure.contracts.messages import Message
from perdure.contracts.state import State


def append(state: State, *messages: Message) -> State:
    """The state after ``messages`` joined the transcript, in order."""
    digest = state.digest
    for message in messages:
        digest = extend_digest(digest, message)
    return state.model_copy(update={"messages": state.messages + messages, "digest": digest})


def turn_output(state: State) -> str:
    """The output of the turn that runs: its last assistant text; where no message has text, the last reasoning.

    Some servers put a whole answer into the reasoning channel and stop normally: that text is then the answer.
    """
    if state.turn is None:
        return ""
    reasoning = ""
    for message in reversed(state.messages[state.turn.first_message :]):
        if message.role != "assistant":
            continue
        if message.text.strip():
            return message.text
        if not reasoning and not message.calls:
            reasoning = "".join(part.text for part in message.parts if part.kind == "reasoning")
    return reasoning
