"""Dynamic resolvers: functions of the worker that say what holds for a call, where a policy names them.

A policy may come from anybody who starts a run, so it can only name what the worker's settings list: nothing is
imported because a policy says so. A resolver that fails, is slow or is unknown says nothing, and the call asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

from pydantic import JsonValue

from perdure.activities.callbacks import Callbacks
from perdure.activities.sources import load_function
from perdure.authority.policy import Resolution
from perdure.authority.resolvers import Consultation
from perdure.contracts.activities import JudgeRequest
from perdure.contracts.agent import Humans, Mode, PolicyWord

RESOLVER_DEADLINE = timedelta(seconds=2)
"""How long a resolver may take: updates and queries of the run wait for it."""

WORDS: tuple[PolicyWord, ...] = get_args(PolicyWord)


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """What a resolver is told beside the tool and the arguments: about the run, and the time (UTC)."""

    run_id: str
    call_id: str
    agent: str
    user: str
    mode: Mode
    humans: Humans
    workspace: str
    at: datetime | None


ResolverFunction = Callable[[str, dict[str, JsonValue], PolicyContext], str]
"""``(tool, arguments, context) -> "allow" | "ask" | "always_ask" | "deny"``, called in a thread of its own."""


class Resolvers:
    """The resolvers that a worker serves, by the name under which policies know them."""

    def __init__(
        self, functions: dict[str, ResolverFunction] | None = None, *, deadline: timedelta = RESOLVER_DEADLINE
    ) -> None:
        self._functions = dict(functions or {})
        self._callbacks = Callbacks(deadline)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which they were given."""
        return tuple(self._functions)

    async def resolve(self, asked: Iterable[Consultation], request: JudgeRequest) -> dict[str, dict[str, Resolution]]:
        """What the resolvers say, by call id and resolver; all are asked at once. Never raises."""
        asked = tuple(asked)
        answers = await asyncio.gather(*(self._answer(question, _context(question, request)) for question in asked))
        said: dict[str, dict[str, Resolution]] = {}
        for question, answer in zip(asked, answers, strict=True):
            said.setdefault(question.call_id, {})[question.resolver] = answer
        return said

    async def _answer(self, question: Consultation, context: PolicyContext) -> Resolution:
        function = self._functions.get(question.resolver)
        if function is None:
            return Resolution(problem="this worker's settings do not list it")
        resolution, why = await self._callbacks.call(
            f"resolver {question.resolver}",
            lambda: _resolution(function(question.tool, question.arguments, context)),
        )
        return resolution or Resolution(problem=why)


def load_resolvers(paths: Iterable[str]) -> Resolvers:
    """The functions that ``paths`` lead to (``module:function`` or ``path/to/file.py:function``), named as written.

    Importing runs the module. Raises InvalidSettingsError saying what does not lead to a resolver, and why.
    """
    takes = ("tool", "arguments", "context")
    return Resolvers({path: load_function(path, what="Resolver path", takes=takes) for path in paths})


def _resolution(said: object) -> Resolution:
    word = next((one for one in WORDS if one == said), None)
    return Resolution(word=word) if word else Resolution(problem=f"it said {str(said)[:40]!r}")


def _context(question: Consultation, request: JudgeRequest) -> PolicyContext:
    return PolicyContext(
        run_id=request.run_id,
        call_id=question.call_id,
        agent=request.agent,
        user=request.user,
        mode=request.mode,
        humans=request.humans,
        workspace=request.workspace,
        at=request.at,
    )
