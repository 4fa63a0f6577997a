"""Identifiers that Perdure derives from turn, step and position.

Providers' own ids cannot serve: servers repeat ``call_0``, Gemini sends none. Ours are unique in a run, equal in every
replay, and short enough to type. The provider's id is kept beside ours and is sent back to the provider only.
"""

from __future__ import annotations

import re
from datetime import datetime

GRANT_BOOKS = "perdure-grants:"
"""What the workflow id of every grant book begins with. No run has such an id."""

_RUN_ID = re.compile(r"[A-Za-z0-9._/:-]{1,200}")


def run_id_problem(run_id: str) -> str:
    """Why no run can be started under this id, for whoever chose it; empty when one can.

    An id is one that no shell, URL or file name has to quote.
    """
    shown = repr(run_id) if len(run_id) <= 60 else f"{run_id[:60]!r}…"
    if not _RUN_ID.fullmatch(run_id):
        return f"{shown} is no id for a run: letters, digits and . _ - / : are, up to 200 of them."
    return f"{shown} is no id for a run: such are the books of grants." if run_id.startswith(GRANT_BOOKS) else ""


def user_message_id(position: int) -> str:
    """Id of the ``position``-th user message that the run received, counted from 1: ``u1``."""
    return f"u{position}"


def model_message_id(turn: int, step: int, position: int = 1) -> str:
    """Id of the message that a model call makes: ``t1s2``; a second call of the same step makes ``t1s2m2``."""
    return f"t{turn}s{step}" if position == 1 else f"t{turn}s{step}m{position}"


def call_id(message_id: str, position: int) -> str:
    """Id of the ``position``-th tool call of a message, counted from 1: ``t1s2c1``."""
    return f"{message_id}c{position}"


def result_message_id(call: str) -> str:
    """Id of the message that holds the one result of a call: ``t1s2c1r``."""
    return f"{call}r"


def tail_message_id(name: str) -> str:
    """Id of the synthetic message that closes one model request, and is in no other: ``tail:guidance``."""
    return f"tail:{name}"


def is_tail(message_id: str) -> bool:
    """Whether the message of this id stands in one model request only, behind all that comes again."""
    return message_id.startswith("tail:")


def request_id(message_id: str, version: int) -> str:
    """Id of an approval request about calls of one message: ``t1s2a1``; asking again makes the next version."""
    return f"{message_id}a{version}"


def question_id(call: str) -> str:
    """Id of the question that a call asks: the call's own id, since an answer settles exactly that call."""
    return call


def kept_grant_id(run_id: str, number: int, given_at: datetime) -> str:
    """Id of a grant that outlives its run: ``nightly/g1-20300105093000250``. Run ids are used again: the time, to the
    millisecond, tells the grants of one run from those of a later one of its id.
    """
    return f"{run_id}/g{number}-{given_at:%Y%m%d%H%M%S}{given_at.microsecond // 1000:03}"


def grant_book_id(level: str, subject: str) -> str:
    """Workflow id of the book with the grants of an agent or of a user: ``perdure-grants:agent:clerk``."""
    return f"{GRANT_BOOKS}{level}:{subject}"


def idempotency_key(run_id: str, call: str) -> str:
    """The key that a tool hands to outside systems: equal for every attempt of the call, unique across runs."""
    return f"{run_id}/{call}"
