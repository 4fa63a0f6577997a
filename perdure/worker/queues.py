"""Task queues: a run that brings tools of its own has one that only workers with the same tools serve.

On a queue that others serve too, any worker may be the one that resolves the agent or gets the call, and one without
the tools knows nothing of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

INFIX = ".tools-"


def own_queue(task_queue: str, tools: Iterable[str]) -> str:
    """The queue of runs that bring ``tools`` (paths as people write them); ``task_queue`` itself when there are none.

    The same tools have the same queue, from whatever folder and in whatever order they are named.
    """
    paths = sorted({_resolved(path) for path in tools})
    if not paths:
        return task_queue
    return f"{task_queue}{INFIX}{hashlib.sha256(chr(0).join(paths).encode()).hexdigest()[:8]}"


def brings_tools(task_queue: str) -> bool:
    """Whether that is the queue of runs with tools of their own."""
    return INFIX in task_queue


def _resolved(path: str) -> str:
    stem, ending, function = path.rpartition(".py")
    if not ending or (function and not function.startswith(":")):
        return path
    return f"{Path(stem + ending).expanduser().resolve()}{function}"
