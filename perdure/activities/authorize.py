"""The local activity ``authorize``: authority's verdicts, with what this machine knows of the paths in question.

Authority itself looks at no disk. Here the symbolic links that lie on a call's paths are looked up, so that a link with
a harmless name is judged as what it leads to.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from temporalio import activity

from perdure.activities.posture import posture
from perdure.activities.threads import in_thread
from perdure.authority.capabilities import Capability
from perdure.authority.judge import judge
from perdure.authority.paths import MAX_LINKS, MachineFacts, paths_of
from perdure.authority.reach import capabilities_of
from perdure.authority.scope import meant
from perdure.contracts.activities import Judgement, JudgeRequest
from perdure.contracts.names import AUTHORIZE

MAX_PATHS = 500
ROUNDS = 3
"""A link can lead a pattern of a call to further paths, with links of their own."""


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
        for _ in range(ROUNDS):
            links = links_on(_paths(request, facts))
            if links.keys() <= facts.links.keys():
                break
            facts = replace(facts, links={**facts.links, **links})
        return facts


def links_on(paths: Iterable[str]) -> Mapping[str, str]:
    """The symbolic links that lie on the way of these absolute paths, each with its target as it is written."""
    links: dict[str, str] = {}
    for path in paths:
        _follow(path, links)
    return links


def _follow(path: str, links: dict[str, str]) -> None:
    place, todo, followed = "/", path.split("/"), 0
    while todo and followed <= MAX_LINKS:
        part = todo.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            place = posixpath.dirname(place)
            continue
        here = posixpath.join(place, part)
        target = links.get(here) or _target(here)
        if target is None:
            place = here
            continue
        links[here] = target
        followed += 1
        todo = target.split("/") + todo
        place = "/" if target.startswith("/") else place


def _target(path: str) -> str | None:
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        # No link, nothing there, or a path that the system does not even look at: then it is no way to anything else.
        return None


def _paths(request: JudgeRequest, facts: MachineFacts) -> tuple[str, ...]:
    named = dict.fromkeys(path for capabilities in _reaches(request, facts) for path in paths_of(capabilities))
    return tuple(named)[:MAX_PATHS]


def _reaches(request: JudgeRequest, facts: MachineFacts) -> Iterator[tuple[Capability, ...]]:
    for call in request.calls:
        tool = meant(call.part.tool, request.tools, request.scope)
        if tool is None or call.part.arguments is None:
            continue
        try:
            yield capabilities_of(tool, call.part.arguments, facts)
        except Exception:  # noqa: BLE001 - judging meets the same fault and turns it into an ask; the other calls go on
            continue
