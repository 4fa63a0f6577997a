"""Perdure: AI agents that outlive their processes, on Temporal.

What applications use stands here and nowhere else (what tests use: `perdure.testing`). Names are loaded when they are
first asked for, so that what needs no server (help, completion, a tool's file) does not pay for Temporal's import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.activities.declaration import tool
    from perdure.activities.resolvers import PolicyContext
    from perdure.client.attachments import attachment
    from perdure.client.client import Client
    from perdure.client.grants import Grants, Remembered
    from perdure.client.listing import RunListing
    from perdure.contracts.agent import AgentSpec, ApprovalRule, ArgumentRule, Limits, ToolPolicy, Waiting
    from perdure.contracts.approvals import (
        ApprovalRequest,
        CallVerdict,
        Grant,
        OpenRequests,
        Question,
        RequestedCall,
        Verdict,
    )
    from perdure.contracts.errors import (
        InvalidInputError,
        OperatorError,
        OrderRefusedError,
        PerdureError,
        RunAlreadyRunningError,
        RunFailedError,
        RunNotFoundError,
        ServerUnavailableError,
        ToolError,
    )
    from perdure.contracts.events import (
        AnyEvent,
        CallEnded,
        CallsReviewed,
        CallStarted,
        DeadlinePassed,
        GrantMade,
        MessageReceived,
        ModelAnswered,
        ModelCalled,
        ModelGaveUp,
        OrderReceived,
        Position,
        QuestionOpened,
        RequestOpened,
        Retrying,
        RunBegan,
        RunClosed,
        StatusChanged,
        TextArrived,
        TurnBegan,
        TurnEnded,
    )
    from perdure.contracts.failures import Failure
    from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed
    from perdure.contracts.messages import (
        AssistantMessage,
        AudioPart,
        CallPart,
        FilePart,
        HostedPart,
        ImagePart,
        Message,
        Opaque,
        ReasoningPart,
        TextPart,
        ToolMessage,
        UserMessage,
    )
    from perdure.contracts.prompts import ModelRequest
    from perdure.contracts.requests import (
        Answer,
        Approve,
        Cancel,
        Close,
        Deny,
        Edit,
        Interrupt,
        Order,
        Receipt,
        Remember,
        Revoke,
        RunRequest,
        Send,
        Withdraw,
    )
    from perdure.contracts.state import RunOutput, RunSummary, TurnSummary
    from perdure.contracts.tools import CallContext, HostedTool, ToolSpec
    from perdure.contracts.usage import Cost, Usage

__version__ = "0.1.0"

_HOMES = (
    "activities.declaration",
    "contracts.tools",
    "contracts.agent",
    "contracts.requests",
    "contracts.messages",
    "contracts.approvals",
    "contracts.events",
    "contracts.state",
    "contracts.usage",
    "contracts.failures",
    "contracts.errors",
    "contracts.hooks",
    "contracts.prompts",
    "activities.resolvers",
    "client.attachments",
    "client.grants",
    "client.listing",
    "client.client",
)
"""The modules that hold the public names: the cheaper to import, the earlier."""

__all__ = [
    "AgentSpec",
    "Answer",
    "AnyEvent",
    "ApprovalRequest",
    "ApprovalRule",
    "Approve",
    "ArgumentRule",
    "AssistantMessage",
    "AudioPart",
    "CallContext",
    "CallEnded",
    "CallPart",
    "CallStarted",
    "CallVerdict",
    "CallsReviewed",
    "Cancel",
    "Client",
    "Close",
    "Cost",
    "DeadlinePassed",
    "Deny",
    "Edit",
    "Failure",
    "FilePart",
    "Grant",
    "GrantMade",
    "Grants",
    "HostedPart",
    "HostedTool",
    "ImagePart",
    "Interrupt",
    "InvalidInputError",
    "Limits",
    "Message",
    "MessageReceived",
    "ModelAnswered",
    "ModelCallAnswered",
    "ModelCallFailed",
    "ModelCallPlanned",
    "ModelCallUsed",
    "ModelCalled",
    "ModelGaveUp",
    "ModelRequest",
    "Opaque",
    "OpenRequests",
    "OperatorError",
    "Order",
    "OrderReceived",
    "OrderRefusedError",
    "PerdureError",
    "PolicyContext",
    "Position",
    "Question",
    "QuestionOpened",
    "ReasoningPart",
    "Receipt",
    "Remember",
    "Remembered",
    "RequestOpened",
    "RequestedCall",
    "Retrying",
    "Revoke",
    "RunAlreadyRunningError",
    "RunBegan",
    "RunClosed",
    "RunFailedError",
    "RunListing",
    "RunNotFoundError",
    "RunOutput",
    "RunRequest",
    "RunSummary",
    "Send",
    "ServerUnavailableError",
    "StatusChanged",
    "TextArrived",
    "TextPart",
    "ToolError",
    "ToolMessage",
    "ToolPolicy",
    "ToolSpec",
    "TurnBegan",
    "TurnEnded",
    "TurnSummary",
    "Usage",
    "UserMessage",
    "Verdict",
    "Waiting",
    "Withdraw",
    "__version__",
    "attachment",
    "tool",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home. Raises AttributeError for a name that is not public."""
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"perdure.{home}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'perdure' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
