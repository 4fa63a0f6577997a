"""Perdure: AI agents that outlive their processes, on Temporal.

What applications use stands here and nowhere else. Names are loaded when they are first asked for, so that what needs
no server (help, completion, a tool's file) does not pay for Temporal's import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.activities.declaration import tool
    from perdure.client.attachments import attachment
    from perdure.client.client import Client
    from perdure.client.listing import RunListing
    from perdure.contracts.agent import AgentSpec, ArgumentRule, Limits, ToolPolicy
    from perdure.contracts.errors import PerdureError, RunFailedError, ToolError
    from perdure.contracts.events import AnyEvent, Position
    from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed
    from perdure.contracts.requests import Receipt, Remember, RunRequest
    from perdure.contracts.state import RunOutput, RunSummary
    from perdure.contracts.tools import CallContext

__version__ = "0.1.0"

_HOMES = {
    "AgentSpec": "perdure.contracts.agent",
    "ArgumentRule": "perdure.contracts.agent",
    "AnyEvent": "perdure.contracts.events",
    "CallContext": "perdure.contracts.tools",
    "Client": "perdure.client.client",
    "Limits": "perdure.contracts.agent",
    "ModelCallAnswered": "perdure.contracts.hooks",
    "ModelCallFailed": "perdure.contracts.hooks",
    "ModelCallPlanned": "perdure.contracts.hooks",
    "ModelCallUsed": "perdure.contracts.hooks",
    "PerdureError": "perdure.contracts.errors",
    "Position": "perdure.contracts.events",
    "Receipt": "perdure.contracts.requests",
    "Remember": "perdure.contracts.requests",
    "RunFailedError": "perdure.contracts.errors",
    "RunListing": "perdure.client.listing",
    "RunOutput": "perdure.contracts.state",
    "RunRequest": "perdure.contracts.requests",
    "RunSummary": "perdure.contracts.state",
    "ToolError": "perdure.contracts.errors",
    "ToolPolicy": "perdure.contracts.agent",
    "attachment": "perdure.client.attachments",
    "tool": "perdure.activities.declaration",
}

__all__ = [
    "AgentSpec",
    "AnyEvent",
    "ArgumentRule",
    "CallContext",
    "Client",
    "Limits",
    "ModelCallAnswered",
    "ModelCallFailed",
    "ModelCallPlanned",
    "ModelCallUsed",
    "PerdureError",
    "Position",
    "Receipt",
    "Remember",
    "RunFailedError",
    "RunListing",
    "RunOutput",
    "RunRequest",
    "RunSummary",
    "ToolError",
    "ToolPolicy",
    "__version__",
    "attachment",
    "tool",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home. Raises AttributeError for a name that is not public."""
    if name not in _HOMES:
        raise AttributeError(f"module 'perdure' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
