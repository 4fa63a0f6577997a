"""The local activity ``authorize``: authority's verdicts, with what this machine knows of the paths in question.

Authority itself looks at no disk. Here the symbolic links that lie on a call's paths are looked up, so that a link with
a harmless name is judged as what it leads to.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from temporalio import activity

from perdure.activities.posture import posture
from perdure.activities.threads import in_thread
from perdure.authority.capabilities import Capability
from perdure.authority.judge import judge
from perdure.authority.paths import MachineFacts, with_links
from perdure.authority.reach import capabilities_of
from perdure.authority.scope import meant
from perdure.contracts.activities import Judgement, JudgeRequest
from perdure.contracts.names import AUTHORIZE

MAX_ENTRIES = 20_000
"""Entries of a folder that are looked at for links, when a pattern could meet any of them."""


class AuthorizeActivity:
    """Judging calls on the machine that would run them.

    ``home`` and ``user`` are the worker's; ``control_paths`` are our own files and folders, which no agent may change.
    """

    def __init__(self, *, home: Path, user: str = "", control_paths: Iterable[Path] = ()) -> None:
        self._home = home
        self._user = user
        self._control_paths = tuple(control_paths)

    @activity.defn(name=AUTHORIZE)
    async def authorize(self, request: JudgeRequest) -> Judgement:
        """The verdicts on the calls, in order."""
        with posture():
            return await in_thread(lambda: judge(request, self.facts(request)), name=AUTHORIZE)

    def facts(self, request: JudgeRequest) -> MachineFacts:
        """What this machine knows that matters for these calls."""
        facts = MachineFacts(
            home=os.path.realpath(self._home),
            workspace=os.path.realpath(request.workspace),
            user=self._user,
            control_paths=tuple(os.path.realpath(path) for path in self._control_paths),
        )
        return with_links(lambda known: _capabilities(request, known), facts, DiskLinks())


class DiskLinks:
    """The symbolic links of this machine. What cannot be looked at (gone, forbidden, no path at all) holds none."""

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


def _capabilities(request: JudgeRequest, facts: MachineFacts) -> Iterator[Capability]:
    for call in request.calls:
        tool = meant(call.part.tool, request.tools, request.scope)
        if tool is None or call.part.arguments is None:
            continue
        try:
            yield from capabilities_of(tool, call.part.arguments, facts)
        except Exception:  # noqa: BLE001 - judging meets the same fault and turns it into an ask; the other calls go on
            continue
