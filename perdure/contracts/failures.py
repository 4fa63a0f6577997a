"""Failures as data: what went wrong, whose fault it is, and whether asking again can help."""

from __future__ import annotations

from typing import Literal

from perdure.contracts.record import Record

FailureKind = Literal[
    "rate_limited",
    "overloaded",
    "timeout",
    "network",
    "authentication",
    "quota",
    "bad_request",
    "context_too_long",
    "refused",
    "bad_reply",
    "invalid_output",
    "unknown_agent",
    "invalid_input",
    "unsupported",
    "vetoed",
    "message_gone",
    "unavailable",
    "transcript_unavailable",
    "internal",
]

Attribution = Literal["user", "operator", "provider", "perdure"]
"""Whose fault a failure is, and so who can act."""


MAX_MESSAGE = 2_000
"""Characters of an error message at most: failure messages are never offloaded from a history."""


def bounded(text: str) -> str:
    """``text`` cut to `MAX_MESSAGE` characters, with a mark where it was cut."""
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 2] + " …"


class Failure(Record):
    """One failure, bounded in size: the message never exceeds 2,000 characters and never holds a secret."""

    kind: FailureKind
    message: str
    attribution: Attribution = "perdure"
    retryable: bool = False
    status: int | None = None
    code: str = ""
    provider: str = ""
    provider_request_id: str = ""
