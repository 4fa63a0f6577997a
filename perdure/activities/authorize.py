"""The local activity ``authorize``: authority's verdicts, with what this machine knows of the paths in question.

Authority itself looks at no disk. Here the symbolic links that lie on a call's paths are looked up, so that a link with
a harmless name is judged as what it leads to, and the files with credentials where a call searches. Dynamic resolvers
are asked here, and the grants of the run's agent and user are looked up, when one of them could make a difference.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import structlog

from perdure.activities.disk import LocalDisk
from perdure.activities.inputs import activity_named
from perdure.activities.posture import posture
from perdure.activities.resolvers import Resolvers
from perdure.activities.threads import in_thread
from perdure.authority.capabilities import Capability
from perdure.authority.judge import judge
from perdure.authority.paths import MachineFacts, with_disk
from perdure.authority.reach import capabilities_of
from perdure.authority.resolvers import Consultation, consultations
from perdure.authority.scope import meant
from perdure.contracts.activities import Judgement, JudgeRequest
from perdure.contracts.approvals import Grant
from perdure.contracts.names import AUTHORIZE

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

    @activity_named(AUTHORIZE)
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
        return with_disk(lambda known: _capabilities(request, known), facts, LocalDisk())


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
