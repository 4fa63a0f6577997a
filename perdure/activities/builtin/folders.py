"""Listing one folder of the workspace."""

from __future__ import annotations

import os
from pathlib import Path

from perdure.activities.builtin.workspace import place_in, saying
from perdure.activities.declaration import tool
from perdure.activities.results import SHOWN_BYTES
from perdure.contracts.errors import ToolError
from perdure.contracts.tools import CallContext

MOST_ENTRIES = 500


@tool(effect="read", idempotent=True, path_arguments=("path",))
def list_dir(context: CallContext, path: str = ".") -> str:
    """List a folder of the workspace: its folders (marked with a final /) and files with their sizes, by name.

    Args:
        path: The folder, relative to the workspace.
    """
    place = place_in(context.workspace, path)
    with saying(f"list {path}"):
        if place.exists() and not place.is_dir():
            raise ToolError(f"{path} is a file, not a folder.")
        with os.scandir(place) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    lines: list[str] = []
    room = SHOWN_BYTES
    for entry in entries[:MOST_ENTRIES]:
        line = _line(entry)
        room -= len(line.encode(errors="replace")) + 1
        if room < 0:
            break
        lines.append(line)
    if len(lines) < len(entries):
        lines.append(f"[{len(entries) - len(lines):,} of {len(entries):,} entries are left out.]")
    return "\n".join(lines) or f"[{path} is an empty folder.]"


def _line(entry: os.DirEntry[str]) -> str:
    # A name with a line break in it must not look like two entries.
    name = entry.name if entry.name.isprintable() else repr(entry.name)
    if entry.is_symlink():
        return f"{name} -> {_target(Path(entry.path))}"
    if entry.is_dir():
        return f"{name}/"
    try:
        return f"{name} ({entry.stat().st_size:,} bytes)"
    except OSError:
        return name


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return "?"
