"""Where a request of Anthropic's protocol says that what came so far may be cached, since it will come again.

A mark stands behind tools and system prompt, which a run never changes, and behind the last two of the user's messages
that will stay: the last one, so that the next step reads all of this one, and the one before, which the step before
marked and where the provider still finds it when more than its 20 blocks of looking back lie between. What changes from
step to step stands behind the marks. Three marks at most; the protocol allows four.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.providers.lenient import Json

_UNMARKABLE = frozenset({"thinking", "redacted_thinking"})


def marked(block: Json) -> Json:
    """``block`` with a mark behind it."""
    return {**block, "cache_control": {"type": "ephemeral"}}


def marked_last(messages: Sequence[tuple[str, list[Json]]]) -> None:
    """Set the marks of the messages, (role, content) each, all of which will come again as they are."""
    users = [content for role, content in messages if role == "user" and content]
    for content in users[-2:]:
        if content[-1].get("type") not in _UNMARKABLE:
            content[-1] = marked(content[-1])
