"""Running a program in a process group of its own, of which nothing outlives the call.

The trap: killing the shell leaves its children alive, and a child that holds the output pipe open keeps a reader
waiting after the shell has gone. So every signal goes to the whole group, and the output is awaited for a bounded time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

KEPT_BYTES = 12 * 1024
"""Bytes kept of the start of a stream, and as many of its end."""

GRACE = timedelta(seconds=5)
"""From SIGTERM to SIGKILL."""

DRAIN = timedelta(seconds=1)
"""How long output may still come when the shell has ended."""


@dataclass(slots=True)
class Stream(asyncio.Protocol):
    """One output stream of a command: its head and its tail, and how much there was between them."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    left_out: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    def data_received(self, data: bytes) -> None:
        """Keep what fits (asyncio calls it)."""
        room = KEPT_BYTES - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        surplus = max(len(self.tail) - KEPT_BYTES, 0)
        del self.tail[:surplus]
        self.left_out += surplus

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more comes (asyncio calls it)."""
        self.closed.set()

    @property
    def text(self) -> str:
        """What was kept, with a mark where something is missing."""
        if not self.left_out:
            return (self.head + self.tail).decode(errors="replace")
        head, tail = self.head.decode(errors="replace"), self.tail.decode(errors="replace")
        return f"{head}\n[… {self.left_out:,} bytes are left out …]\n{tail}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. ``exit_code`` is negative for a signal, and None when it had to be abandoned."""

    exit_code: int | None
    output: str
    errors: str
    timed_out: bool


async def run_shell(
    command: str, *, folder: Path, environment: Mapping[str, str], limit: timedelta, grace: timedelta = GRACE
) -> Ended:
    """Run ``command`` in a shell, without input; otherwise as `run_program`."""
    shell = shutil.which("bash") or "/bin/sh"
    return await run_program((shell, "-c", command), folder=folder, environment=environment, limit=limit, grace=grace)


async def run_program(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limit: timedelta,
    grace: timedelta = GRACE,
    given: bytes = b"",
) -> Ended:
    """Run ``command`` with ``given`` as its input, and end every process that it started.

    After ``limit``, and when the caller is cancelled, the group gets SIGTERM and, ``grace`` later, SIGKILL. Raises
    OSError when the program cannot be started.
    """
    async with _input(given) as given_file, _stream() as (output, into_output), _stream() as (errors, into_errors):
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=given_file,
            stdout=into_output,
            stderr=into_errors,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
        # These ends belong to the command alone from here on: a stream ends when its last writer does.
        into_output.close()
        into_errors.close()

        async def drained() -> None:
            await asyncio.gather(output.closed.wait(), errors.closed.wait())

        async def gone() -> None:
            await asyncio.gather(process.wait(), drained())

        try:
            in_time = await _within(limit, process.wait)
            if in_time:
                await _within(DRAIN, drained)
        finally:
            await _end_group(process.pid, gone, grace)
        return Ended(process.returncode, output.text, errors.text, timed_out=not in_time)


@contextlib.asynccontextmanager
async def _input(given: bytes) -> AsyncIterator[BinaryIO | int]:
    """What a program reads. A file and no pipe: a program that does not read its input then holds nobody up."""
    if not given:
        yield asyncio.subprocess.DEVNULL
        return
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(given)
        file.seek(0)
        yield file


@contextlib.asynccontextmanager
async def _stream() -> AsyncIterator[tuple[Stream, BinaryIO]]:
    readable, writable = os.pipe()
    with os.fdopen(writable, "wb", buffering=0) as into:
        reading = os.fdopen(readable, "rb", buffering=0)
        transport, stream = await asyncio.get_running_loop().connect_read_pipe(Stream, reading)
        try:
            yield stream, into
        finally:
            transport.close()
            await stream.closed.wait()


async def _end_group(group: int, gone: Callable[[], Awaitable[object]], grace: timedelta) -> None:
    try:
        if _signalled(group, signal.SIGTERM):
            await _within(grace, gone)
    finally:
        _signalled(group, signal.SIGKILL)
        await _within(DRAIN, gone)


def _signalled(group: int, number: signal.Signals) -> bool:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


async def _within(limit: timedelta, work: Callable[[], Awaitable[object]]) -> bool:
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await work()
    except TimeoutError:
        return False
    return True
