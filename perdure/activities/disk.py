"""What the disk knows and authority must know of it, which itself looks at no disk."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from itertools import islice

from perdure.authority.protected import holds_credentials

MAX_ENTRIES = 20_000
"""Entries that are looked at: of a folder for links, when a pattern could meet any of them, and of all that is searched
for credentials, which takes about half a second."""

NOT_SEARCHED = frozenset((".git", "node_modules", "site-packages"))
"""Folders of what others have published, with more entries than all the rest."""


class LocalDisk:
    """The disk of this machine. What cannot be looked at (gone, forbidden, no path at all) holds nothing."""

    def __init__(self, most: int = MAX_ENTRIES) -> None:
        self._left = most

    def target(self, path: str) -> str | None:
        """The text of the link at this absolute path; None when there is no link."""
        try:
            return os.readlink(path)
        except (OSError, ValueError):
            return None

    def links_in(self, folder: str) -> Mapping[str, str]:
        """Every link directly in the folder: absolute path to text."""
        try:
            with os.scandir(folder) as entries:
                found = [entry.path for entry in islice(entries, MAX_ENTRIES) if entry.is_symlink()]
        except (OSError, ValueError):
            return {}
        return {path: target for path in found if (target := self.target(path)) is not None}

    def credentials_below(self, folder: str, depth: int) -> list[str]:
        """Files below the folder that may hold credentials by their name, nearest first. Links are not followed."""
        found: list[str] = []
        todo = deque([(folder, depth)])
        while todo and self._left > 0:
            place, depth = todo.popleft()
            try:
                with os.scandir(place) as entries:
                    for entry in islice(entries, self._left):
                        self._left -= 1
                        if not entry.is_dir(follow_symlinks=False):
                            found += [entry.path] if holds_credentials(entry.path) else []
                        elif depth > 1 and entry.name not in NOT_SEARCHED:
                            todo.append((entry.path, depth - 1))
            except (OSError, ValueError):
                continue
        return found
