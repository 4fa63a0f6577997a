"""Hooks around model calls: functions of the worker's settings that may veto a call, or are told what came of it.

A hook that is told something may fail or hang: the worker notes it and the answer stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import structlog

from perdure.activities.callbacks import Callbacks
from perdure.activities.sources import load_function
from perdure.contracts.failures import Failure, bounded
from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed

HOOK_TIMEOUT = timedelta(seconds=5)
STOP_PATIENCE = timedelta(milliseconds=300)
"""How long hooks are waited for when a person has stopped the call, who waits for that."""

Before = Callable[[ModelCallPlanned], str | None]
"""Returns why the call must not be made, or nothing."""

Told = ModelCallUsed | ModelCallAnswered | ModelCallFailed
HookFunction = Callable[[Any], Any]

log = structlog.get_logger(__name__)


class ModelHooks:
    """The hooks of a worker, by the names that the settings give them."""

    def __init__(
        self,
        *,
        before: Mapping[str, HookFunction] | None = None,
        usage: Mapping[str, HookFunction] | None = None,
        completion: Mapping[str, HookFunction] | None = None,
        error: Mapping[str, HookFunction] | None = None,
        timeout: timedelta = HOOK_TIMEOUT,
    ) -> None:
        """``timeout`` is how long a call waits for a hook."""
        self._before = dict(before or {})
        self._told: dict[type[Told], dict[str, HookFunction]] = {
            ModelCallUsed: dict(usage or {}),
            ModelCallAnswered: dict(completion or {}),
            ModelCallFailed: dict(error or {}),
        }
        self._callbacks = Callbacks(timeout)
        self._open: set[asyncio.Task[None]] = set()

    @property
    def names(self) -> tuple[str, ...]:
        """All names, those that are asked before a call first."""
        return tuple(dict.fromkeys((*self._before, *(name for hooks in self._told.values() for name in hooks))))

    async def objection(self, planned: ModelCallPlanned) -> Failure | None:
        """Why the call must not be made: the first veto, or the first hook that could not say (a retryable failure)."""
        for name, function in self._before.items():
            said, why = await self._callbacks.call(f"hook {name}", partial(function, planned))
            if isinstance(said, str) and said.strip():
                reason = bounded(f"The model call was vetoed by {name}: {said.strip()}")
                return Failure(kind="vetoed", message=reason, attribution="operator")
            if said is not None and not why:
                why = f"it returned a value of type {type(said).__name__}, not None or a reason"
            if why:
                message = f"The hook {name}, which must agree to the model call, could not be asked: {why}."
                return Failure(kind="unavailable", message=bounded(message), attribution="operator", retryable=True)
        return None

    async def tell(self, *told: Told, patience: timedelta | None = None) -> None:
        """Tell the hooks, all at once, and wait for them no longer than ``patience``. Raises nothing of theirs."""
        calls = {
            asyncio.create_task(self._heard(name, function, one), name=f"hook {name}")
            for one in told
            for name, function in self._told[type(one)].items()
        }
        # Who is not waited for goes on, and must be held by somebody for that.
        self._open |= calls
        for call in calls:
            call.add_done_callback(self._open.discard)
        if calls:
            await asyncio.wait(calls, timeout=None if patience is None else patience.total_seconds())

    async def _heard(self, name: str, function: HookFunction, told: Told) -> None:
        _, why = await self._callbacks.call(f"hook {name}", partial(function, told))
        if why:
            log.warning("a model hook failed", hook=name, reason=why, run_id=told.run_id, message_id=told.message_id)


def load_model_hooks(
    *,
    before: Iterable[str] = (),
    usage: Iterable[str] = (),
    completion: Iterable[str] = (),
    error: Iterable[str] = (),
    timeout: timedelta = HOOK_TIMEOUT,
) -> ModelHooks:
    """The functions that the paths lead to (``module:function`` or ``path/to/file.py:function``), named as written.

    Importing runs the module. Raises InvalidSettingsError saying what does not lead to a hook, and why.
    """
    return ModelHooks(
        before=_loaded(before),
        usage=_loaded(usage),
        completion=_loaded(completion),
        error=_loaded(error),
        timeout=timeout,
    )


def _loaded(paths: Iterable[str]) -> dict[str, HookFunction]:
    return {path: load_function(path, what="Hook path", takes=("event",)) for path in paths}
