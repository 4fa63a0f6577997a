"""Calls to judge, in the words of the tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue

from perdure.authority.judge import judge
from perdure.authority.matching import Subject
from perdure.authority.paths import MachineFacts
from perdure.authority.policy import Resolutions
from perdure.contracts.activities import JudgeRequest, ProposedCall
from perdure.contracts.agent import ArgumentRule, Match, PolicyWord, ToolPolicy
from perdure.contracts.approvals import CallVerdict, Grant, Response, Verdict
from perdure.contracts.messages import CallPart
from perdure.contracts.tools import ToolSpec

FACTS = MachineFacts(home="/home/u", workspace="/home/u/work", user="u")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

READ = ToolSpec(name="read_note", effect="read")
WRITE = ToolSpec(name="write_note", effect="write")
ASK = ToolSpec(name="ask_human", handler="human")
RUN = ToolSpec(name="run", effect="execute", command_argument="command")
SAVE = ToolSpec(name="save", effect="write", path_arguments=("path",))
TOOLS = (READ, WRITE, ASK)
NOTHING_SAID: Resolutions = {}


def calls(tool: str, /, **arguments: JsonValue) -> CallPart:
    return CallPart(call_id="t1s1c1", tool=tool, arguments_text=json.dumps(arguments), arguments=arguments)


def says(tool: str, text: str) -> CallPart:
    """A call whose arguments cannot be read."""
    return CallPart(call_id="t1s1c1", tool=tool, arguments_text=text, arguments=None)


def approved(digest: str, actor: str = "", *, seen: Verdict | None = None, by_deadline: bool = False) -> Response:
    said = "Nobody responded before the deadline." if by_deadline else ""
    return Response(
        call_id="t1s1c1",
        decision="approve",
        text=said,
        actor=actor,
        digest=digest,
        seen=seen,
        by_deadline=by_deadline,
        at=NOON,
    )


def approval_of(asked: CallVerdict, actor: str = "") -> Response:
    """What the brain records when somebody approves what was asked."""
    return approved(asked.digest, actor, seen=asked.verdict)


def where(**tests: str | tuple[Match, str]) -> tuple[ArgumentRule, ...]:
    """Argument rules: a text must be equal, a pair says how to compare."""
    return tuple(
        ArgumentRule(argument=name, value=test)
        if isinstance(test, str)
        else ArgumentRule(argument=name, match=test[0], value=test[1])
        for name, test in tests.items()
    )


def granted(tool: str = "write_note", *, actor: str = "ada", **fields: Any) -> Grant:
    return Grant.model_validate({"grant_id": "g1", "tool": tool, "actor": actor, "granted_at": NOON, **fields})


def subject(tool: ToolSpec, /, **arguments: JsonValue) -> Subject:
    return Subject(tool, arguments, FACTS)


REQUEST = JudgeRequest(run_id="r", calls=(), tools=TOOLS)


def verdict_on(
    part: CallPart,
    request: JudgeRequest = REQUEST,
    *,
    response: Response | None = None,
    approvers: tuple[str, ...] = (),
    said: Resolutions = NOTHING_SAID,
) -> CallVerdict:
    call = ProposedCall(part=part, response=response, approvers=approvers, round=1)
    asked = request.model_copy(update={"calls": (call,)})
    (verdict,) = judge(asked, FACTS, {part.call_id: said}).verdicts
    return verdict


def decided(verdict: CallVerdict) -> tuple[str, str]:
    return verdict.verdict.decision, verdict.verdict.rule


def with_policy(word: PolicyWord | None, **changes: Any) -> JudgeRequest:
    """The request with one word of the agent's policy for `write_note`."""
    policy = () if word is None else (ToolPolicy(tool="write_note", word=word),)
    return REQUEST.model_copy(update={"policy": policy, **changes})
