"""A model call in this process: every attempt, and what it had said when it was stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from perdure.context.render import render
from perdure.contracts.activities import Patience
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.errors import PerdureError, ProviderError
from perdure.contracts.failures import Failure
from perdure.contracts.instructions import CallModel
from perdure.contracts.messages import AssistantMessage, Message
from perdure.contracts.usage import Cost, Usage
from perdure.providers.provider import Provider
from perdure.providers.stream import Assembler

MODEL_ATTEMPTS = Patience().model_attempts


class ModelAttempts:
    """One model call."""

    def __init__(self, instruction: CallModel, provider: Provider, heard: Callable[[str], None]) -> None:
        """``heard`` is told, after each piece, the text of the message so far."""
        self._instruction = instruction
        self._provider = provider
        self._heard = heard
        self._usage = Usage()
        self._cost = Cost()
        self._assembler = self._new_attempt(1)

    async def answer(self, agent: FrozenAgent, messages: tuple[Message, ...]) -> AssistantMessage | Failure:
        """The message, or why there is none after all attempts. Stopped, it is what had come, marked."""
        try:
            request = render(agent, messages[: self._instruction.revision], forced=self._instruction.forced)
            for attempt in range(1, MODEL_ATTEMPTS + 1):
                self._assembler = self._new_attempt(attempt)
                try:
                    async with aclosing(self._provider.stream(request, attempt=attempt)) as pieces:
                        async for piece in pieces:
                            self._assembler.add(piece)
                            self._heard(self._assembler.text)
                            # Nothing here waits by itself, and only what waits can be stopped.
                            await asyncio.sleep(0)
                    return self._message()
                except ProviderError as error:
                    if not error.retryable or attempt == MODEL_ATTEMPTS:
                        return error.failure()
                    self._usage += self._assembler.usage
                    self._cost += self._assembler.cost
        except asyncio.CancelledError:
            return self._message(interrupted=True)
        except PerdureError as error:
            return error.failure()
        raise AssertionError("the last attempt returns")

    def _new_attempt(self, attempt: int) -> Assembler:
        return Assembler(self._instruction.message_id, self._instruction.model, attempt)

    def _message(self, *, interrupted: bool = False) -> AssistantMessage:
        message = self._assembler.message("interrupted" if interrupted else None)
        spent = {"usage": self._usage + message.usage, "cost": self._cost + message.cost}
        return message.model_copy(update=spent)
