"""The local activity ``authorize``: authority's verdicts, with what this machine knows of the paths in question.

Authority itself looks at no disk. Here the symbolic links that lie on a call's paths are looked up, so that a link with
a harmless name is judged as what it leads to. Dynamic resolvers are asked here, and the grants of the run's agent and
user are looked up, when one of them could make a difference.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Protocol

import structlog
from temporalio import activity

from perdure.activities.posture import posture
from perdure.activities.resolvers import Resolvers
from perdure.activities.threads import in_thread
from perdure.authority.capabilities import Capability
from perdure.authority.judge import judge
from perdure.authority.paths import MachineFacts, with_links
from perdure.authority.reach import capabilities_of
from perdure.authority.resolvers import Consultation, consultations
from perdure.authority.scope import meant
from perdure.contracts.activities import Judgement, JudgeRequest
from perdure.contracts.approvals import Grant
from perdure.contracts.names import AUTHORIZE

MAX_ENTRIES = 20_000
"""Entries of a folder that are looked at for links, when a pattern could meet any of them."""

GRANTS_DEADLINE = timedelta(seconds=3)
"""How long looking grants up may take; then there are none, and the call asks."""

log = structlog.get_logger(__name__)


class GrantSource(Protocol):
    """Where the grants of agents and users are kept."""

    async def grants(self, agent: str, user: str) -> tuple[Grant, ...]:
        """Those that hold for the runs of that agent, and those that hold for the runs that this user started."""
        ...


class AuthorizeActivity:
    """Judging calls on the machine that would run them.

    ``home`` and ``user`` are the worker's; ``control_paths`` are our own files and folders, which no agent may change.
    ``resolvers`` are those that policies may name, ``grants`` is where grants of other runs are found.
    """

    def __init__(
        self,
        *,
        home: Path,
        user: str = "",
        control_paths: Iterable[Path] = (),
        resolvers: Resolvers | None = None,
        grants: GrantSource | None = None,
    ) -> None:
        self._home = home
        self._user = user
        self._control_paths = tuple(control_paths)
        self._resolvers = resolvers or Resolvers()
        self._grants = grants

    @activity.defn(name=AUTHORIZE)
    async def authorize(self, request: JudgeRequest) -> Judgement:
        """The verdicts on the calls, in order."""
        with posture():
            facts, asked = await in_thread(lambda: self._prepared(request), name=AUTHORIZE)
            said = await self._resolvers.resolve(asked, request)
            judgement = await in_thread(lambda: judge(request, facts, said), name=AUTHORIZE)
            grants = await self._granted(request) if _may_be_granted(judgement) else ()
            if not grants:
                return judgement
            granted = request.model_copy(update={"grants": (*request.grants, *grants)})
            return await in_thread(lambda: judge(granted, facts, said), name=AUTHORIZE)

    def _prepared(self, request: JudgeRequest) -> tuple[MachineFacts, tuple[Consultation, ...]]:
        facts = self.facts(request)
        return facts, consultations(request, facts)

    async def _granted(self, request: JudgeRequest) -> tuple[Grant, ...]:
        if self._grants is None:
            return ()
        try:
            async with asyncio.timeout(GRANTS_DEADLINE.total_seconds()):
                found = await self._grants.grants(request.agent, request.user)
        except Exception as error:  # noqa: BLE001 - whatever keeps grants away, the calls then ask as without them
            log.warning("grants could not be looked up: the calls ask", run_id=request.run_id, error=repr(error)[:200])
            return ()
        subjects = {("agent", request.agent), ("user", request.user)}
        return tuple(grant for grant in found if grant.subject and (grant.level, grant.subject) in subjects)

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


def _may_be_granted(judgement: Judgement) -> bool:
    """Whether a call asks, or is denied because nobody can be asked, so that a grant may make a difference."""
    verdicts = (one.verdict for one in judgement.verdicts)
    return any(verdict.rule == "no_human" or (verdict.decision == "ask" and not verdict.firm) for verdict in verdicts)


def _capabilities(request: JudgeRequest, facts: MachineFacts) -> Iterator[Capability]:
    for call in request.calls:
        tool = meant(call.part.tool, request.tools, request.scope)
        if tool is None or call.part.arguments is None:
            continue
        try:
            yield from capabilities_of(tool, call.part.arguments, facts)
        except Exception:  # noqa: BLE001 - judging meets the same fault and turns it into an ask; the other calls go on
            continue
