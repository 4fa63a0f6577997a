"""What a run in this process left behind, and a transcript as people read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from perdure.brain.views import output
from perdure.contracts.events import DurableEvent
from perdure.contracts.messages import AssistantMessage, AssistantPart, CallPart, Message, ToolMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.state import RunOutput, RunStatus, State

SHOWN = 200
"""Characters of one text at most, where a transcript is shown."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that ended, or that waits for people who will not come.

    ``events`` are the durable events that a subscriber would have seen, ``requests`` what the model was asked, attempts
    included.
    """

    state: State
    events: tuple[DurableEvent, ...]
    requests: tuple[ModelRequest, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The transcript."""
        return self.state.messages

    @property
    def status(self) -> RunStatus:
        return self.state.status

    @property
    def failure(self) -> str:
        """Why the run failed, as its client would be told; empty when it did not."""
        return self.state.failure.message if self.state.failure and self.status == "failed" else ""

    @property
    def output(self) -> RunOutput:
        """What the run returns, or would return now."""
        return output(self.state)

    @property
    def calls(self) -> tuple[CallPart, ...]:
        """Every call that the model asked for, in order."""
        return tuple(call for message in self.messages if message.role == "assistant" for call in message.calls)

    def result(self, call_id: str) -> ToolMessage:
        """The one result of a call. Raises AssertionError when the call did not settle."""
        for message in self.messages:
            if message.role == "tool" and message.call_id == call_id:
                return message
        raise AssertionError(f"The call {call_id} has no result in this transcript:\n{shown(self.messages)}")


def shown(messages: Iterable[Message]) -> str:
    """A transcript, a line for each thing that was said, asked for or returned."""
    return "\n".join(line for message in messages for line in _lines(message)) or "(no messages)"


def _lines(message: Message) -> list[str]:
    match message:
        case AssistantMessage():
            lines = [f"{message.message_id} assistant {_of_part(part)}" for part in message.parts]
            ending = [] if message.finish in ("stop", "calls") else [f"{message.message_id} ended: {message.finish}"]
            return [*lines, *ending] or [f"{message.message_id} assistant said nothing"]
        case ToolMessage():
            return [f"{message.message_id} {message.tool} {message.status}: {_cut(message.text)}"]
        case _:
            said = " ".join(part.text if part.kind == "text" else f"[{part.kind}]" for part in message.parts)
            return [f"{message.message_id} user: {_cut(said)}"]


def _of_part(part: AssistantPart) -> str:
    match part.kind:
        case "text":
            return f"says: {_cut(part.text)}"
        case "reasoning":
            return f"thinks: {_cut(part.text)}"
        case "call":
            return f"asks {part.call_id}: {part.tool} {_cut(part.arguments_text)}"
        case "hosted":
            return f"had done: {part.tool} {_cut(part.text)}".rstrip()
        case "image" | "audio" | "file":
            return f"gives: [{part.kind}]"
    assert_never(part.kind)


def _cut(text: str) -> str:
    line = text.replace("\n", "⏎")
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
