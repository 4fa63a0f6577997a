"""The Temporal server to use: the configured one, one that runs on this machine, or our own, started when needed.

Two processes that start at once must not both open the database: whoever holds ``server.lock`` owns it, and hands the
lock to the server. Each process that uses our server holds ``users.lock`` together with the others;
`perdure.worker.supervisor` ends the server when the last one lets go, however that process ended.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from perdure.contracts.errors import ServerUnavailableError
from perdure.worker.connection import answers, connect
from perdure.worker.folder import DataFolder, lock
from perdure.worker.launch import find_binary, launch, ui_beside
from perdure.worker.settings import DEFAULT_PORT, Settings
from perdure.worker.setup import ensure_retention
from perdure.worker.supervisor import PATIENCE

PAUSE = 0.05
"""Seconds between two looks at something that is about to happen."""
ENDING = timedelta(seconds=PATIENCE + 5)
"""How long a server that is told to end may take, and how long a new user waits for that."""
LOOK = timedelta(seconds=2)
"""How long a program on this machine may take to show that it is a Temporal server."""
HANGING = timedelta(seconds=8)
"""How long a server of ours that has run for longer than a start takes may leave a new user without an answer."""
OWN = "this machine"


@dataclass(slots=True)
class Server:
    """A server that answers. ``started`` says that this process started it; ``ui_url`` is None when there is no UI that
    we know of. ``close`` when done with it."""

    address: str
    ui_url: str | None
    started: bool = False
    folder: DataFolder | None = None
    _use: int | None = None

    def release(self) -> bool:
        """Let go of the server, without waiting; return whether that ends it: it is ours and nobody else uses it.

        The end of the process does the same.
        """
        use, self._use = self._use, None
        if use is None:
            return False
        try:
            fcntl.flock(use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(use)
        return True

    async def close(self) -> None:
        """`release`, and when that ends the server, wait for its end (it takes more than a second). Can be repeated."""
        if self.release() and self.folder is not None:
            await until_free(self.folder.lock)


async def until_free(path: Path) -> None:
    """Wait until nobody holds the lock on ``path``, for as long as a server may take to end."""
    end = time.monotonic() + ENDING.total_seconds()
    while time.monotonic() < end:
        if (held := lock(path, fcntl.LOCK_EX)) is not None:
            os.close(held)
            return
        await asyncio.sleep(PAUSE)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Server]:
    """`ensure_server` for the time of a block."""
    server = await ensure_server(settings)
    try:
        yield server
    finally:
        await server.close()


async def ensure_server(settings: Settings, *, find: Callable[[], str] | None = None) -> Server:
    """A server that answers: the configured address, else one that runs on this machine, else our own, started now.

    ``find`` gives the path of the ``temporal`` program (default: `find_binary`). Raises ServerUnavailableError when the
    configured one does not answer or ours does not start, ServerBinaryMissingError, PortInUseError when a configured
    port is taken by something that is not Temporal, InvalidSettingsError when the data folder cannot be used.
    """
    if settings.address is not None:
        await connect(settings, settings.address)
        return Server(settings.address, settings.ui_url)
    folder = DataFolder.prepare(settings.data_dir)
    if (held := lock(folder.lock, fcntl.LOCK_EX)) is not None:
        os.close(held)
        found = f"localhost:{settings.port or DEFAULT_PORT}"
        if await answers(found, min(settings.connect_timeout, LOOK)):
            return Server(found, settings.ui_url or ui_beside(settings.port or DEFAULT_PORT))
    return await ours(settings, folder, find or find_binary)


async def ours(settings: Settings, folder: DataFolder, find: Callable[[], str]) -> Server:
    """Our own server, as one of its users; started when nobody owns its database."""
    use = await user_lock(folder)
    try:
        began = time.monotonic()
        end = began + settings.start_timeout.total_seconds()
        started = False
        while time.monotonic() < end:
            if (owned := lock(folder.lock, fcntl.LOCK_EX)) is not None:
                try:
                    if started:
                        why = f"it ended at once: {folder.last_words() or 'without a word'}; log: {folder.log}"
                        raise ServerUnavailableError(OWN, why)
                    await launch(settings, folder, owned, find())
                    started = True
                finally:
                    os.close(owned)
            where = folder.read_whereabouts()
            if where is not None and await answers(where.address):
                if started:
                    await tune(settings, where.address)
                return Server(where.address, settings.ui_url or where.ui_url, started, folder, use)
            if not started and time.monotonic() - began > HANGING.total_seconds():
                check_hanging(folder, settings.start_timeout)
            await asyncio.sleep(PAUSE)
        why = f"it did not answer within {settings.start_timeout.total_seconds():g} s; log: {folder.log}"
        raise ServerUnavailableError(OWN, why)
    except BaseException:
        os.close(use)
        raise


def check_hanging(folder: DataFolder, start_timeout: timedelta) -> None:
    """Raise ServerUnavailableError for a server that must have started long ago."""
    try:
        age = time.time() - folder.whereabouts.stat().st_mtime
    except OSError:
        return
    if age > start_timeout.total_seconds():
        raise ServerUnavailableError(OWN, f"one runs and does not answer: end it with `kill`; log: {folder.log}")


async def user_lock(folder: DataFolder) -> int:
    """Become a user of our server. While an unused one ends, nobody can: wait for that."""
    end = time.monotonic() + ENDING.total_seconds()
    while (use := lock(folder.users, fcntl.LOCK_SH)) is None:
        if time.monotonic() > end:
            raise ServerUnavailableError(OWN, f"the last one does not end; log: {folder.log}")
        await asyncio.sleep(PAUSE)
    return use


async def tune(settings: Settings, address: str) -> None:
    """Give a server that has just started what its command line cannot: how long closed runs are kept."""
    client = await connect(settings, address)
    await ensure_retention(client, settings.namespace, settings.retention)
