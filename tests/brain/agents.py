"""An agent, replies and verdicts, as tests of the brain put them together by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from perdure.contracts.agent import ApprovalRule, Decision, FrozenAgent, Limits, Waiting
from perdure.contracts.approvals import CallVerdict, Verdict
from perdure.contracts.digests import digest_of
from perdure.contracts.failures import Failure
from perdure.contracts.ids import call_id
from perdure.contracts.messages import AssistantMessage, AssistantPart, CallPart, FinishReason, TextPart
from perdure.contracts.tools import ToolSpec

START = datetime(2026, 1, 1, tzinfo=UTC)
IDLE = timedelta(hours=1)
TOOLS = (
    ToolSpec(name="look", effect="read"),
    ToolSpec(name="write", effect="write"),
    ToolSpec(name="ask_human", handler="human"),
    ToolSpec(name="poll", effect="read", polling=True),
    ToolSpec(
        name="pay",
        effect="write",
        parameters={"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]},
    ),
    ToolSpec(name="odd", effect="write", parameters={"$ref": "#/$defs/nowhere"}),
)
OVERLOADED = Failure(kind="overloaded", message="scripted: too many requests", attribution="provider")


def an_agent(
    *,
    steps: int = 50,
    feedback_rounds: int = 3,
    concurrency: int = 8,
    repeats: int = 3,
    waiting: Waiting | None = None,
) -> FrozenAgent:
    limits = Limits(steps=steps, feedback_rounds=feedback_rounds, concurrency=concurrency, repeats=repeats)
    return FrozenAgent(
        name="assistant", model="scripted:test", tools=TOOLS, limits=limits, waiting=waiting or Waiting()
    )


def a_call(tool: str, /, **arguments: JsonValue) -> CallPart:
    """A call without an id yet: `reply` gives it one."""
    return CallPart(call_id="", tool=tool, arguments=arguments, provider_call_id="call_0")


def reply(message_id: str, *parts: str | CallPart, finish: FinishReason | None = None) -> AssistantMessage:
    """A reply with these parts: a string is text."""
    made: list[AssistantPart] = []
    position = 0
    for part in parts:
        if isinstance(part, str):
            made.append(TextPart(text=part))
            continue
        position += 1
        made.append(part.model_copy(update={"call_id": call_id(message_id, position)}))
    return AssistantMessage(
        message_id=message_id,
        parts=tuple(made),
        model="scripted:test",
        finish=finish or ("calls" if position else "stop"),
    )


def digest(part: CallPart) -> str:
    """The digest that authority gives to a call of these arguments."""
    return digest_of({"tool": part.tool, "arguments": part.arguments})


def verdict(
    part: CallPart,
    decision: Decision,
    rule: str = "policy",
    reason: str = "",
    *,
    round: int = 0,  # noqa: A002 - the field's own name
    firm: bool = False,
    approval: ApprovalRule | None = None,
) -> CallVerdict:
    return CallVerdict(
        call_id=part.call_id,
        verdict=Verdict(decision=decision, rule=rule, reason=reason, firm=firm),
        digest=digest(part),
        round=round,
        approval=approval or ApprovalRule(),
    )
