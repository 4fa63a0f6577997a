"""A model that plays a script, for tests, examples and benchmarks, in this process or in a worker's.

It keeps no state: the reply is chosen by the number of assistant messages in the request, and a failure by the attempt.
So a script goes on where it was after a worker was killed, and an attempt that is made again gets the same reply.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    ContextTooLongError,
    OverloadedError,
    ProviderError,
    ProviderNetworkError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitedError,
    RefusedError,
    UnknownModelError,
)
from perdure.contracts.messages import FinishReason
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.record import FileRecord
from perdure.contracts.usage import Usage
from perdure.providers.completion import whole
from perdure.providers.gate import Gate
from perdure.providers.stream import CallPiece, FinishPiece, Piece, ReasoningPiece, StartPiece, TextPiece, UsagePiece

ScriptedErrorKind = Literal[
    "rate_limited",
    "overloaded",
    "timeout",
    "network",
    "authentication",
    "quota",
    "bad_request",
    "context_too_long",
    "refused",
    "bad_reply",
]

_ERRORS: Mapping[ScriptedErrorKind, type[ProviderError]] = {
    "rate_limited": RateLimitedError,
    "overloaded": OverloadedError,
    "timeout": ProviderTimeoutError,
    "network": ProviderNetworkError,
    "authentication": AuthenticationError,
    "quota": QuotaError,
    "bad_request": BadRequestError,
    "context_too_long": ContextTooLongError,
    "refused": RefusedError,
    "bad_reply": BadReplyError,
}


class ScriptedCall(FileRecord):
    """A tool call. ``arguments_text``, when given, is sent as it stands, JSON or not, instead of ``arguments``.

    ``id`` is the provider's id of the call; like careless servers, a script says ``call_0`` every time.
    """

    tool: str
    arguments: dict[str, JsonValue] = {}
    arguments_text: str | None = None
    id: str = "call_0"


class ScriptedFailure(FileRecord):
    """The error that an attempt ends in, after ``after`` pieces of the reply were streamed."""

    kind: ScriptedErrorKind = "overloaded"
    after: int = 0
    detail: str = "the script says so"
    status: int | None = None
    retry_after: timedelta | None = None


class Pause(FileRecord):
    """After ``after`` pieces were streamed, wait until the `Gate` at the path ``gate`` is open."""

    gate: str
    after: int = 0


class Reply(FileRecord):
    """One reply: reasoning, then text, then calls, each string one streamed piece.

    ``failures[n]`` is what attempt n+1 ends in, None being a success; later attempts succeed. ``pace`` passes after
    each piece. ``forced`` is played instead when the request offers no tools. ``finish`` None is ``calls`` when there
    are calls, else ``stop``.
    """

    text: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    calls: tuple[ScriptedCall, ...] = ()
    usage: Usage = Usage(input_tokens=10, output_tokens=5)
    finish: FinishReason | None = None
    failures: tuple[ScriptedFailure | None, ...] = ()
    pauses: tuple[Pause, ...] = ()
    pace: timedelta = timedelta(0)
    forced: Reply | None = None

    def pieces(self) -> tuple[Piece, ...]:
        """The reply as a stream."""
        calls: list[Piece] = []
        for index, call in enumerate(self.calls):
            text = call.arguments_text
            arguments = json.dumps(call.arguments, ensure_ascii=False) if text is None else text
            calls.append(CallPiece(index, id=call.id, name=call.tool, arguments=arguments))
        return (
            *(ReasoningPiece(text) for text in self.reasoning),
            *(TextPiece(text) for text in self.text),
            *calls,
            UsagePiece(self.usage),
            FinishPiece(self.finish or ("calls" if calls else "stop"), "scripted"),
        )


class Script(FileRecord):
    """The replies of a run's model calls, in order. With ``repeat_last`` the last one is given again for ever."""

    replies: tuple[Reply, ...]
    repeat_last: bool = False

    @classmethod
    def load(cls, path: str | Path) -> Script:
        """Read a script from a JSON file. Raises UnknownModelError when there is none, or none that can be played."""
        try:
            return TypeAdapter(cls).validate_json(Path(path).read_bytes())
        except OSError as error:
            raise UnknownModelError(f"There is no script to play at {path}: {error.strerror}.") from None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(step) for step in first["loc"]) or "the file"
            raise UnknownModelError(f"The script {path} cannot be played: {where}: {first['msg']}.") from None

    def save(self, path: str | Path) -> None:
        """Write the script to a file, which the model ``scripted:<path>`` plays."""
        Path(path).write_text(self.model_dump_json(indent=1), encoding="utf-8")


class ScriptedProvider:
    """Plays ``script``. ``requests`` holds every request that it was asked, in order, attempts included.

    ``missed`` is the first reply that was asked for and is not in the script, 0 while there is none.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[ModelRequest] = []
        self.missed = 0
        self._last = 0

    @property
    def left(self) -> list[int]:
        """The numbers of the replies that nobody came to ask for; one that is repeated may be played no time at all."""
        most = len(self.script.replies) - (1 if self.script.repeat_last else 0)
        return list(range(self._last + 1, most + 1))

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        """Play the reply that follows the assistant messages of ``request``.

        Raises what the script says; BadRequestError when the script has no such reply.
        """
        self.requests.append(request)
        number = sum(message.role == "assistant" for message in request.messages) + 1
        self._last = max(self._last, number)
        return whole("scripted", self._play(request, number, attempt))

    async def _play(self, request: ModelRequest, number: int, attempt: int) -> AsyncGenerator[Piece, None]:
        reply = self._reply(number)
        if reply.forced is not None and not request.tools:
            reply = reply.forced
        failure = reply.failures[attempt - 1] if attempt <= len(reply.failures) else None
        pieces = reply.pieces()
        for streamed in range(len(pieces) + 1):
            for pause in reply.pauses:
                if pause.after == streamed:
                    await _wait(pause)
            if failure is not None and (failure.after <= streamed or streamed == len(pieces)):
                raise _ERRORS[failure.kind](
                    "scripted", failure.detail, status=failure.status, retry_after=failure.retry_after
                )
            if not streamed:
                yield StartPiece(f"scripted-{number}")
            if streamed < len(pieces):
                yield pieces[streamed]
                if reply.pace:
                    await asyncio.sleep(reply.pace.total_seconds())

    def _reply(self, number: int) -> Reply:
        replies = self.script.replies
        if number <= len(replies):
            return replies[number - 1]
        if replies and self.script.repeat_last:
            return replies[-1]
        self.missed = self.missed or number
        raise BadRequestError("scripted", f"the script has no reply {number}, it ends after {len(replies)}")


async def _wait(pause: Pause) -> None:
    try:
        await Gate(pause.gate).wait()
    except OSError as error:
        raise BadRequestError("scripted", f"no gate can stand at {pause.gate}: {error.strerror}") from None
