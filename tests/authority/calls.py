"""Calls to judge, in the words of the tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from pydantic import JsonValue

from perdure.authority.judge import judge
from perdure.authority.paths import MachineFacts
from perdure.contracts.activities import JudgeRequest, ProposedCall
from perdure.contracts.approvals import CallVerdict, Response
from perdure.contracts.messages import CallPart
from perdure.contracts.tools import ToolSpec

FACTS = MachineFacts(home="/home/u", workspace="/home/u/work", user="u")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

READ = ToolSpec(name="read_note", effect="read")
WRITE = ToolSpec(name="write_note", effect="write")
ASK = ToolSpec(name="ask_human", handler="human")
TOOLS = (READ, WRITE, ASK)


def calls(tool: str, /, **arguments: JsonValue) -> CallPart:
    return CallPart(call_id="t1s1c1", tool=tool, arguments_text=json.dumps(arguments), arguments=arguments)


def says(tool: str, text: str) -> CallPart:
    """A call whose arguments cannot be read."""
    return CallPart(call_id="t1s1c1", tool=tool, arguments_text=text, arguments=None)


def approved(digest: str, actor: str = "") -> Response:
    return Response(call_id="t1s1c1", decision="approve", actor=actor, digest=digest, at=NOON)


REQUEST = JudgeRequest(run_id="r", calls=(), tools=TOOLS)


def verdict_on(part: CallPart, request: JudgeRequest = REQUEST, *, response: Response | None = None) -> CallVerdict:
    asked = request.model_copy(update={"calls": (ProposedCall(part=part, response=response),)})
    (verdict,) = judge(asked, FACTS).verdicts
    return verdict


def decided(verdict: CallVerdict) -> tuple[str, str]:
    return verdict.verdict.decision, verdict.verdict.rule
