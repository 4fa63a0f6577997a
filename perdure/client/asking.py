"""What is asked of a run, checked before it is sent, while whoever asks can mend it."""

from __future__ import annotations

from typing import Any

from perdure.client.typed import schema_of
from perdure.contracts.agent import AgentSpec
from perdure.contracts.attachments import check_attachments
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.requests import Order, RunRequest
from perdure.contracts.schemas import schema_fault
from perdure.contracts.sizes import check_size


def startable(request: RunRequest | str, output: type[Any] | None = None) -> RunRequest:
    """The request as it is sent, with the schema of ``output`` when that is given. Raises InvalidInputError."""
    # Callers without a type checker give anything.
    given: object = request
    if not isinstance(given, str | RunRequest):
        raise InvalidInputError(f"A run is started with a message or a RunRequest, not with {type(given).__name__}.")
    message = request if isinstance(request, str) else request.message
    if not message.strip():
        raise InvalidInputError("The message is empty. Say what the agent should do.")
    asked = RunRequest(message=message) if isinstance(request, str) else request
    if output is not None:
        asked = asked.model_copy(update={"output": schema_of(output)})
    inline = asked.agent.output if isinstance(asked.agent, AgentSpec) else None
    for schema in (asked.output, inline):
        if schema is not None and (fault := schema_fault(schema)):
            raise InvalidInputError(str(fault))
    check_attachments(asked.attachments)
    check_size(asked)
    return asked


def check_order(order: Order) -> None:
    """Check what can be checked before the run sees it. Raises InvalidInputError."""
    if order.kind in ("send", "edit") and not order.message.strip():
        raise InvalidInputError("The message is empty. Say what the agent should know or do.")
    if order.kind == "send":
        check_attachments(order.attachments)
    check_size(order)
