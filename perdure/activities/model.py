"""The activity ``call_model``: one request to a model, streamed, with what it has so far in every heartbeat.

Two traps. A worker that shuts down cancels its activities with the same error as a person who stops the turn: only the
latter may turn half an answer into a recorded one, the former must hand the call over. And a retry leaves no trace in
the history, so what failed attempts took travels from heartbeat to heartbeat and comes back with the answer.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Protocol

from temporalio import activity

from perdure.activities.heartbeat import Heartbeat
from perdure.activities.live import Attempt
from perdure.activities.posture import posture
from perdure.activities.replies import bounded_reply
from perdure.activities.transcripts import TranscriptCache
from perdure.context.render import render
from perdure.contracts.activities import ModelCall
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.names import CALL_MODEL
from perdure.contracts.prompts import ModelRequest
from perdure.providers.provider import Provider


class Providers(Protocol):
    """Where models are found by name."""

    def open(self, model: str) -> Provider:
        """The provider of ``model``. Raises UnknownModelError or KeyMissingError."""
        ...


class ModelActivities:
    """Model calls, over the worker's providers and its cache of transcripts."""

    def __init__(self, providers: Providers, transcripts: TranscriptCache) -> None:
        self._providers = providers
        self._transcripts = transcripts

    @activity.defn(name=CALL_MODEL)
    async def call_model(self, call: ModelCall) -> AssistantMessage:
        """Ask the model for its next message.

        A call that is stopped returns what had come, marked ``interrupted``. Every failure is an ``ApplicationError``
        as `perdure.activities.posture` makes it.
        """
        info = activity.info()
        attempt = Attempt(call, info.attempt, info.heartbeat_details)
        with posture():
            async with Heartbeat() as heartbeat:
                try:
                    message = await self._asked(call, attempt, heartbeat)
                except asyncio.CancelledError:
                    if not _stopped_by_request():
                        raise
                    message = attempt.message("interrupted")
            message = bounded_reply(message)
            self._transcripts.append(call, message)
        return message

    async def _asked(self, call: ModelCall, attempt: Attempt, heartbeat: Heartbeat) -> AssistantMessage:
        heartbeat.report(attempt.live)
        request = await self._request(call)
        provider = self._providers.open(call.model)
        attempt.ask()
        heartbeat.report(attempt.live)
        async with aclosing(provider.stream(request, attempt=activity.info().attempt)) as pieces:
            async for piece in pieces:
                if attempt.add(piece):
                    heartbeat.report(attempt.live)
        return attempt.message()

    async def _request(self, call: ModelCall) -> ModelRequest:
        agent, messages = await self._transcripts.fetch(call)
        rendered = render(agent, messages, forced=call.forced, nudged=call.nudged, problem=call.problem)
        return rendered.model_copy(update={"model": call.model, "cache_key": call.run_id})


def _stopped_by_request() -> bool:
    details = activity.cancellation_details()
    return details is not None and details.cancel_requested
