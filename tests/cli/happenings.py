"""Events of a run, written as short sentences."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import JsonValue

from perdure.contracts.approvals import ApprovalRequest, Question, RequestedCall, Verdict
from perdure.contracts.digests import digest_of
from perdure.contracts.events import (
    CallEnded,
    CallStarted,
    ModelAnswered,
    ModelCalled,
    OrderReceived,
    QuestionOpened,
    RequestOpened,
    TextArrived,
)
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    CallPart,
    FinishReason,
    ReasoningPart,
    ResultStatus,
    TextPart,
    ToolMessage,
)
from perdure.contracts.requests import Order

NOON = datetime(2024, 5, 14, 12, 0, tzinfo=UTC)


def piece(
    text: str,
    offset: int = 0,
    *,
    message: str = "t1s1",
    attempt: int = 1,
    thought: bool = False,
    path: tuple[str, ...] = (),
) -> TextArrived:
    """A piece of live text."""
    channel = "reasoning" if thought else "text"
    return TextArrived.model_validate(
        {"message_id": message, "attempt": attempt, "channel": channel, "offset": offset, "text": text, "path": path}
    )


def call(call_id: str, tool: str = "read_file", **arguments: JsonValue) -> CallPart:
    """A call that a model asks for."""
    return CallPart(call_id=call_id, tool=tool, arguments=arguments)


def answered(
    text: str = "",
    *calls: CallPart,
    message: str = "t1s1",
    attempt: int = 1,
    thought: str = "",
    finish: FinishReason = "stop",
    path: tuple[str, ...] = (),
) -> ModelAnswered:
    """The recorded answer of a model."""
    parts: list[AssistantPart] = [ReasoningPart(text=thought)] if thought else []
    parts += [TextPart(text=text)] if text else []
    recorded = AssistantMessage(
        message_id=message, parts=(*parts, *calls), model="demo:demo", attempt=attempt, finish=finish
    )
    return ModelAnswered(message=recorded, path=path)


def asked(call_id: str, tool: str = "write_file", *, rule: str = "effect", **arguments: JsonValue) -> RequestedCall:
    """A call that waits for approval."""
    return RequestedCall(
        call_id=call_id,
        tool=tool,
        arguments=arguments,
        digest=digest_of({"tool": tool, "arguments": arguments}),
        verdict=Verdict(decision="ask", rule=rule, reason=f"{tool} changes data."),
    )


def opened(*calls: RequestedCall, version: int = 1) -> RequestOpened:
    """An approval request about calls."""
    request = ApprovalRequest(
        request_id=f"t1s1a{version}", version=version, message_id="t1s1", calls=calls, opened_at=NOON
    )
    return RequestOpened(request=request)


def question(call_id: str, text: str, *options: str) -> Question:
    """A question that the agent asks."""
    return Question(question_id=call_id, call_id=call_id, text=text, options=options, opened_at=NOON)


def wonders(call_id: str, text: str, *options: str) -> QuestionOpened:
    """The agent asks a question."""
    return QuestionOpened(question=question(call_id, text, *options))


def ordered(order: Order, *, refused: str = "") -> OrderReceived:
    """Somebody told the run something."""
    return OrderReceived(order=order, refused=refused)


def model_called(message: str = "t1s1") -> ModelCalled:
    """A model call began."""
    return ModelCalled(message_id=message, turn=1, step=1)


def started(call_id: str) -> CallStarted:
    """A call began to run."""
    return CallStarted(call=call(call_id))


def ended(call_id: str, text: str = "fine", *, tool: str = "read_file", status: ResultStatus = "ok") -> CallEnded:
    """A call has its result."""
    result = ToolMessage(message_id=f"{call_id}r", call_id=call_id, tool=tool, status=status, text=text)
    return CallEnded(result=result)
