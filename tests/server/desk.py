"""Tools of an editor's desk, for runs on a real server: research, drafts and what goes out."""

from __future__ import annotations

from typing import Any

from perdure import CallContext, PolicyContext, tool
from tests.server.tools import note_effect


@tool(effect="network", idempotent=True)
async def search(topic: str, context: CallContext) -> str:
    """Search the web."""
    note_effect(context, f"search {topic}")
    return f"About {topic}: https://example.org/{topic}"


@tool(effect="network", idempotent=True)
async def read_page(url: str, context: CallContext) -> str:
    """Read a page."""
    note_effect(context, f"read {url}")
    return "Tea was first drunk in China."


@tool(effect="write")
async def draft(text: str, context: CallContext) -> str:
    """Write a draft."""
    note_effect(context, f"draft {text}")
    return "drafted"


@tool(effect="network")
async def publish(text: str, context: CallContext) -> str:
    """Publish a text."""
    note_effect(context, f"publish {text}")
    return "published"


def office_hours(tool: str, arguments: dict[str, Any], context: PolicyContext) -> str:
    """A resolver that forbids to write of secrets and knows nothing of the rest."""
    if "secret" in arguments["text"]:
        return "deny"
    raise LookupError("the calendar is not there")
