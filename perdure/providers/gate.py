"""A gate at a path: a stream waits at it until somebody opens it, from this process or another, without polling.

A waiter makes a FIFO at the path and sleeps until a writer has come; opening puts a plain file there, so that whoever
arrives later walks through. POSIX only, which is enough for what plays scripts: tests and benchmarks.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import uuid
from pathlib import Path


class Gate:
    """One gate, shut until a plain file stands at ``path``, which `open` sees to. It lets all waiters through."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def occupied(self) -> bool:
        """Whether somebody has come to the gate while it was shut, and it still is."""
        return stat.S_ISFIFO(self._mode())

    async def wait(self) -> None:
        """Return once the gate is open; at once when it is open already. Raises OSError when its folder is missing."""
        while not self._opened():
            with contextlib.suppress(FileExistsError):
                os.mkfifo(self.path)
            await self._writer()

    def open(self) -> None:
        """Open the gate for good. Whoever waits goes on; harmless when it is open already."""
        opened = self.path.with_name(f"{self.path.name}.{uuid.uuid4().hex}")
        opened.touch()
        # The FIFO is held open before it is replaced: a waiter that opens it in between still meets a writer.
        held = os.open(self.path, os.O_RDWR | os.O_NONBLOCK) if self.occupied else None
        opened.replace(self.path)
        if held is not None:
            os.write(held, b".")
            os.close(held)

    async def _writer(self) -> None:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[None] = loop.create_future()
        loop.add_reader(descriptor, _settle, arrived)
        try:
            await arrived
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    def _opened(self) -> bool:
        mode = self._mode()
        return bool(mode) and not stat.S_ISFIFO(mode)

    def _mode(self) -> int:
        try:
            return self.path.stat().st_mode
        except FileNotFoundError:
            return 0


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
