"""The activity ``call_model``: one request to a model, streamed, with what it has so far in every heartbeat.

Two traps. A worker that shuts down cancels its activities with the same error as a person who stops the turn: only the
latter may turn half an answer into a recorded one, the former must hand the call over. And a retry leaves no trace in
the history, so what failed attempts took, and which models are given up, travels from heartbeat to heartbeat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Protocol

import structlog
from temporalio import activity
from temporalio.exceptions import FailureError

from perdure.activities.heartbeat import Heartbeat
from perdure.activities.hooks import STOP_PATIENCE, ModelHooks
from perdure.activities.inputs import activity_named
from perdure.activities.live import Attempt
from perdure.activities.posture import posture, told
from perdure.activities.replies import bounded_reply
from perdure.activities.setbacks import Setback, back_off
from perdure.activities.transcripts import TranscriptCache
from perdure.context.render import render
from perdure.contracts.activities import ModelCall
from perdure.contracts.errors import ProviderTimeoutError
from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.names import CALL_MODEL
from perdure.contracts.prompts import ModelRequest
from perdure.providers.provider import Provider

log = structlog.get_logger(__name__)


class Providers(Protocol):
    """Where models are found by name."""

    def open(self, model: str) -> Provider:
        """The provider of ``model``. Raises UnknownModelError or KeyMissingError."""
        ...


class ModelActivities:
    """Model calls, over the worker's providers, its cache of transcripts and its hooks."""

    def __init__(self, providers: Providers, transcripts: TranscriptCache, hooks: ModelHooks | None = None) -> None:
        self._providers = providers
        self._transcripts = transcripts
        self._hooks = hooks or ModelHooks()
        # Models that used up the tries of a call and have not answered since: other calls need not find that out anew.
        self._down: set[str] = set()

    @activity_named(CALL_MODEL)
    async def call_model(self, call: ModelCall) -> AssistantMessage:
        """Ask the model, or the fallback whose turn it is, for the next message.

        A call that is stopped returns what had come, marked ``interrupted``. Every failure is an ``ApplicationError``
        as `perdure.activities.posture` makes it; it is retryable while a model is left that may answer.
        """
        info = activity.info()
        attempt = Attempt(call, info.attempt, info.heartbeat_details)
        patience = None
        with posture():
            async with Heartbeat() as heartbeat:
                try:
                    message = await self._answered(call, attempt, heartbeat)
                except asyncio.CancelledError:
                    if not _stopped_by_request():
                        raise
                    message, patience = attempt.message("interrupted"), STOP_PATIENCE
                message = bounded_reply(message)
                await self._tell_answer(call, attempt, message, patience)
            self._transcripts.append(call, message)
        return message

    async def _answered(self, call: ModelCall, attempt: Attempt, heartbeat: Heartbeat) -> AssistantMessage:
        try:
            return await self._asked(call, attempt, heartbeat)
        except FailureError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it decides what the next attempt does
            setback = attempt.fail(error, down=attempt.model in self._down)
        if setback.failure.retryable and attempt.moved_on and attempt.model not in self._down:
            self._down.add(attempt.model)
            log.warning("a model is down: until it answers, a call asks it once", model=attempt.model)
        heartbeat.report(attempt.live)
        await self._hooks.tell(*_used(call, attempt), _failed(call, attempt, setback))
        raise told(setback, attempt.total)

    async def _asked(self, call: ModelCall, attempt: Attempt, heartbeat: Heartbeat) -> AssistantMessage:
        ends = asyncio.get_running_loop().time() + call.deadline.total_seconds() if call.deadline else None
        heartbeat.report(attempt.live)
        request = await self._request(call, attempt.model)
        provider = self._providers.open(attempt.model)
        await self._check_objection(call, attempt, heartbeat, request)
        attempt.ask()
        heartbeat.report(attempt.live)
        async with _until(ends, call, attempt), aclosing(provider.stream(request, attempt=attempt.tries)) as pieces:
            async for piece in pieces:
                if attempt.add(piece):
                    heartbeat.report(attempt.live)
        answer = attempt.answer()
        self._down.discard(attempt.model)
        return answer

    async def _request(self, call: ModelCall, model: str) -> ModelRequest:
        agent, messages = await self._transcripts.fetch(call)
        rendered = render(agent, messages, forced=call.forced, nudged=call.nudged, problem=call.problem)
        return rendered.model_copy(update={"model": model, "cache_key": call.run_id})

    async def _check_objection(
        self, call: ModelCall, attempt: Attempt, heartbeat: Heartbeat, request: ModelRequest
    ) -> None:
        objection = await self._hooks.objection(ModelCallPlanned(**_facts(call, attempt), request=request))
        if objection is None:
            return
        setback = Setback(objection, back_off(attempt.number) if objection.retryable else None)
        attempt.spare()
        heartbeat.report(attempt.live)
        await self._hooks.tell(_failed(call, attempt, setback))
        raise told(setback, attempt.total)

    async def _tell_answer(
        self, call: ModelCall, attempt: Attempt, message: AssistantMessage, patience: timedelta | None
    ) -> None:
        """Tell the hooks of an answer. Whatever stops this, the answer stands."""
        answered = ModelCallAnswered(**_facts(call, attempt), message=message)
        with suppress(asyncio.CancelledError):
            await self._hooks.tell(*_used(call, attempt), answered, patience=patience)


@asynccontextmanager
async def _until(ends: float | None, call: ModelCall, attempt: Attempt) -> AsyncGenerator[None, None]:
    """Raise ProviderTimeoutError in a block that goes on at ``ends``, by the clock of the event loop."""
    deadline = asyncio.timeout_at(ends)
    try:
        async with deadline:
            yield
    except TimeoutError:
        if not deadline.expired() or call.deadline is None:
            raise
        said = f"no whole answer came within model_deadline ({call.deadline.total_seconds():g} s)"
        raise ProviderTimeoutError(attempt.model.partition(":")[0], said) from None


def _facts(call: ModelCall, attempt: Attempt) -> dict[str, Any]:
    return {
        "run_id": call.run_id,
        "execution_id": call.execution_id,
        "message_id": call.message_id,
        "turn": call.turn,
        "step": call.step,
        "model": attempt.model,
        "attempt": attempt.number,
        "agent": call.agent,
        "user": call.user,
    }


def _used(call: ModelCall, attempt: Attempt) -> tuple[ModelCallUsed, ...]:
    bill = attempt.bill()
    if bill is None:
        return ()
    usage, cost = bill
    return (ModelCallUsed(**_facts(call, attempt), usage=usage, cost=cost),)


def _failed(call: ModelCall, attempt: Attempt, setback: Setback) -> ModelCallFailed:
    return ModelCallFailed(**_facts(call, attempt), failure=setback.failure, again=setback.wait is not None)


def _stopped_by_request() -> bool:
    details = activity.cancellation_details()
    return details is not None and details.cancel_requested
