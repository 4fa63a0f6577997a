"""The terminal: lines that a person types, read without blocking, and whether there is a person at all.

A question may be answered elsewhere while it is shown here, so reading must be something that can be given up: a thread
that blocks in ``input()`` cannot.
"""

from __future__ import annotations

import asyncio
import os
import sys


def interactive() -> bool:
    """Whether somebody can be asked: both the input and the error stream, where prompts go, are a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


class Lines:
    """Lines from a terminal in its line mode, which edits a line itself and hands it over whole."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = b""
        self._ended = False

    async def next(self) -> str | None:
        """The next line without its end, None at the end of the input (Ctrl-D). Can be cancelled; no line is lost."""
        while b"\n" not in self._pending and not self._ended:
            await self._readable()
            read = os.read(self._descriptor, 65536)
            self._ended = not read
            self._pending += read
        line, found, rest = self._pending.partition(b"\n")
        self._pending = rest
        if not found and not line:
            # On a terminal more may follow after Ctrl-D.
            self._ended = False
            return None
        return line.decode(errors="replace").rstrip("\r")

    def forget(self) -> None:
        """Drop what was typed before a question was shown: it cannot be meant as its answer."""
        import termios

        self._pending = b""
        if os.isatty(self._descriptor):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_reader(self._descriptor)
