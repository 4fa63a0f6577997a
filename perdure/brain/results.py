"""Results of calls: from what a tool returned, and for calls that cannot run."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from perdure.contracts.ids import result_message_id
from perdure.contracts.messages import CallPart, ResultStatus, ToolMessage
from perdure.contracts.state import Call, State
from perdure.contracts.tools import ToolOutput

ARGUMENT_BYTES = 400 * 1024
"""Bytes of one call's arguments at most. More than 4 MB in one workflow task would end the run at once."""

UNAVAILABLE = "No worker serves this tool any more. It was not run."
STOPPED = "Stopped while it ran. It may have taken effect in part."


def call_result(part: CallPart, status: ResultStatus, text: str) -> ToolMessage:
    """A result of ``part`` that no tool gave."""
    return ToolMessage(
        message_id=result_message_id(part.call_id), call_id=part.call_id, tool=part.tool, status=status, text=text
    )


def tool_result(part: CallPart, returned: Any) -> ToolMessage:
    """The result of ``part`` whose activity returned ``returned``: a `ToolOutput`, or any JSON of a foreign worker."""
    output = _output(returned)
    result = call_result(part, output.status, output.text)
    return result.model_copy(update={"data": output.data})


def _output(returned: Any) -> ToolOutput:
    ours = ToolOutput.model_fields.keys()
    # All of our fields and more: a worker of ours that is newer than this one.
    if isinstance(returned, dict) and "text" in returned and (returned.keys() <= ours or returned.keys() >= ours):
        try:
            return ToolOutput.model_validate(returned)
        except ValidationError:
            pass  # A foreign worker's object that only looks like ours.
    text = returned if isinstance(returned, str) else json.dumps(returned, ensure_ascii=False)
    return ToolOutput(text=text, data=returned)


def cannot_run(state: State, call: Call) -> ToolMessage | None:
    """The result of an allowed call that cannot run all the same, or None."""
    if state.agent is None or state.agent.tool(call.tool) is None:
        return call_result(call.part, "unavailable", UNAVAILABLE)
    size = len(call.part.arguments_text.encode("utf-8", "surrogatepass"))
    if size > ARGUMENT_BYTES:
        text = f"The arguments are too large: {size} bytes, at most {ARGUMENT_BYTES}. Send less, or in several calls."
        return call_result(call.part, "invalid", text)
    return None
