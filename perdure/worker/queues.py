"""Task queues: runs that a process starts for itself wait on a queue that only processes with the same rules serve.

Any worker of a queue may be the one that resolves a run's agent, judges its calls or runs them. One with another
policy, other hooks or other tools would do so by its own, and whoever started the run would not learn of it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from perdure.worker.settings import Settings

RULES = frozenset(
    {
        "policy", "resolvers", "before_model_call", "on_model_usage", "on_model_answer", "on_model_error",
        "notify_command", "notify_webhook", "models", "fallbacks", "providers", "capabilities", "prices", "mcp_keys",
        "step_limit", "feedback_rounds", "idle_timeout",
    }
)  # fmt: skip
"""Settings that say, beside tools and agents, what a run may do, what it talks to, and who is asked and told."""


def own_queue(settings: Settings) -> str:
    """The queue of runs that are started and served under these settings.

    The same rules, tools and agent folders have the same queue, in whatever order and from whatever folder they are
    named. Secrets have no part in it.
    """
    rules = settings.model_dump(mode="json", include=set(RULES))
    rules["tools"] = sorted({_resolved(path) for path in settings.tools})
    rules["agents"] = [str(folder) for folder in settings.agents if folder.exists()]
    digest = hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()
    return f"{settings.task_queue}.{digest[:8]}"


def _resolved(path: str) -> str:
    stem, ending, function = path.rpartition(".py")
    if not ending or (function and not function.startswith(":")):
        return path
    return f"{Path(stem + ending).expanduser().resolve()}{function}"
