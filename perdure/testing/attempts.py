"""A model call in this process: every attempt at it, counted as a worker counts them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from itertools import count

from perdure.activities.live import Attempt
from perdure.context.render import render
from perdure.contracts.activities import LiveText, ModelCall
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.errors import PerdureError
from perdure.contracts.failures import Failure
from perdure.contracts.instructions import CallModel
from perdure.contracts.messages import AssistantMessage, Message
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.usage import Bill
from perdure.providers.provider import Provider


class ModelAttempts:
    """One model call. ``heard`` is told, after each piece, the text of the message so far."""

    def __init__(self, run_id: str, instruction: CallModel, provider: Provider, heard: Callable[[str], None]) -> None:
        fields = instruction.model_dump(exclude={"kind"})
        self._call = ModelCall(run_id=run_id, execution_id=run_id, **fields)
        self._provider = provider
        self._heard = heard

    async def answer(
        self, agent: FrozenAgent, messages: tuple[Message, ...]
    ) -> AssistantMessage | tuple[Failure, Bill]:
        """The message, or why there is none after all attempts, and what these took.

        Stopped, it is what had come, marked.
        """
        call = self._call.model_copy(update={"fallbacks": agent.fallbacks})
        left: tuple[LiveText, ...] = ()
        try:
            request = render(
                agent, messages[: call.revision], forced=call.forced, nudged=call.nudged, problem=call.problem
            )
        except PerdureError as error:
            return error.failure(), Bill()
        for number in count(1):
            attempt = Attempt(call, number, left)
            try:
                return await self._asked(attempt, number, request.model_copy(update={"model": attempt.model}))
            except PerdureError as error:
                setback = attempt.fail(error)
            if setback.wait is None:
                break
            left = (attempt.live,)
        return setback.failure, attempt.total

    async def _asked(self, attempt: Attempt, number: int, request: ModelRequest) -> AssistantMessage:
        attempt.ask()
        try:
            async with aclosing(self._provider.stream(request, attempt=number)) as pieces:
                async for piece in pieces:
                    attempt.add(piece)
                    self._heard(attempt.live.text)
                    # A script that does not wait never lets go of the loop, and only what lets go can be stopped.
                    await asyncio.sleep(0)
            return attempt.answer()
        except asyncio.CancelledError:
            return attempt.message("interrupted")
