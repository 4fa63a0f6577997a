"""The demo model: it follows rules, says so, and does a real job with the tools that it is offered, without a key."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator

from perdure.contracts.prompts import ModelRequest
from perdure.contracts.usage import Usage
from perdure.providers.completion import whole
from perdure.providers.demo_rules import next_step
from perdure.providers.stream import CallPiece, FinishPiece, Piece, TextPiece, UsagePiece

_PIECE = re.compile(r"\S{1,40}\s*|\s+")


class DemoProvider:
    """Serves ``demo:demo``. It keeps nothing: each step is decided from the messages alone, so it survives any kill."""

    def __init__(self, delay: float = 0.015) -> None:
        """``delay`` is the time between two pieces of text, in seconds; 0 streams at once."""
        self._delay = delay

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        """The next step of the turn; see `Provider.stream`. Never fails."""
        return whole("demo", self._pieces(request))

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        step = next_step(request)
        for text in _PIECE.findall(step.text):
            yield TextPiece(text)
            if self._delay:
                await asyncio.sleep(self._delay)
        calls = [(tool, json.dumps(arguments, ensure_ascii=False)) for tool, arguments in step.calls]
        for index, (tool, arguments) in enumerate(calls):
            yield CallPiece(index, name=tool, arguments=arguments)
        asked = len(request.system) + sum(len(message.model_dump_json()) for message in request.messages)
        said = len(step.text) + sum(len(arguments) for _, arguments in calls)
        # Four characters to a token is the usual rule of thumb; nothing is paid by it.
        yield UsagePiece(Usage(input_tokens=asked // 4 + 1, output_tokens=said // 4 + 1))
        yield FinishPiece("calls" if calls else "stop", "demo")
