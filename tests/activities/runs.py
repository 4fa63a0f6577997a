"""A run as a model call meets it: a transcript that can be asked for, page by page, and the call that refers to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from perdure.contracts.activities import ModelCall
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.digests import START, extend_digest
from perdure.contracts.errors import TranscriptUnavailableError
from perdure.contracts.messages import Message, TextPart, UserMessage
from perdure.contracts.state import TranscriptPage

AGENT = FrozenAgent(name="clerk", prompt="You keep the books.", model="scripted:x")


def said(number: int, text: str = "Hello") -> UserMessage:
    return UserMessage(message_id=f"u{number}", parts=(TextPart(text=text),))


def digest_after(*messages: Message) -> str:
    digest = START
    for message in messages:
        digest = extend_digest(digest, message)
    return digest


@dataclass
class Run:
    """Answers pages of ``page_size`` messages, and remembers where each began. ``broken`` answers nothing."""

    messages: tuple[Message, ...]
    run_id: str = "r1"
    page_size: int = 2
    asked: list[int] = field(default_factory=list)
    broken: bool = False
    agent: FrozenAgent | None = AGENT

    def call(self, *, forced: bool = False, model: str = "scripted:x") -> ModelCall:
        """A model call about the transcript as it stands."""
        return ModelCall(
            run_id=self.run_id,
            execution_id="e1",
            message_id="t1s1",
            turn=1,
            step=1,
            model=model,
            revision=len(self.messages),
            digest=digest_after(*self.messages),
            forced=forced,
        )

    async def page(self, call: ModelCall, start: int) -> TranscriptPage:
        self.asked.append(start)
        if self.broken:
            raise TranscriptUnavailableError(call.run_id, "no worker answers")
        messages = self.messages[start : start + self.page_size]
        return TranscriptPage(
            run_id=self.run_id,
            start=start,
            revision=len(self.messages),
            digest=digest_after(*self.messages[: start + len(messages)]),
            messages=messages,
            agent=self.agent if start == 0 else None,
        )
