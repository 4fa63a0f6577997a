"""The workspace: the one folder that file tools work in, and the way from a model's path to a place inside it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from perdure.contracts.errors import ToolError


def workspace_of(workspace: str) -> Path:
    """The workspace as an absolute path without links. Raises `ToolError` when there is no such folder."""
    root = Path(workspace).expanduser().resolve()
    if not root.is_dir():
        raise ToolError(f"The workspace {root} is not a folder on this worker.")
    return root


def place_in(workspace: str, path: str) -> Path:
    """Where ``path`` leads, links followed: an absolute path that is the workspace or lies in it.

    A relative path starts at the workspace. Raises `ToolError` for one that leads out of it, by ``..``, by ``~``, by
    being absolute, or through a link.
    """
    root = workspace_of(workspace)
    try:
        place = (root / Path(path).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise ToolError(f"The path {path!r} cannot be used: {error}.") from None
    if not place.is_relative_to(root):
        raise ToolError(f"The path {path!r} leads out of the workspace {root}. Give a path inside it.")
    return place


@contextlib.contextmanager
def saying(doing: str) -> Iterator[None]:
    """What the system refuses while ``doing`` (``read notes.md``), as a `ToolError` in a sentence."""
    try:
        yield
    except OSError as error:
        raise ToolError(f"Cannot {doing}: {(error.strerror or str(error)).lower()}.") from None
