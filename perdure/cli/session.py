"""A connection for one command: settings, a server that answers, our client.

Nothing of a worker is imported here: a look at the runs must not wait for all that a worker is made of.
"""

from __future__ import annotations

import asyncio
import functools
import getpass
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn
from urllib.parse import quote

from temporalio.client import Client as TemporalClient

from perdure.cli.ask import Desk
from perdure.cli.screen import Screen
from perdure.cli.terminal import Lines, interactive
from perdure.cli.watch import answering, bounded, watch
from perdure.client.client import Client
from perdure.contracts.errors import InvalidSettingsError, OperatorError, ServerUnavailableError
from perdure.worker.connection import connect
from perdure.worker.folder import DataFolder
from perdure.worker.logs import configure_logging
from perdure.worker.server import Server, ensure_server
from perdure.worker.settings import Settings
from perdure.worker.sources import Loaded, load_settings

UNNOTICED = 0.7
"""Seconds that something may take before it is said that it goes on."""
LAST_WORK = 7.0
"""Seconds that what still runs at the end may take: a shell command that is to end and does not is killed after 5."""
OWN_COMES_BACK = "It is this machine's own: any command, such as `perdure ls`, starts it again with all its runs."
ACTOR_VARIABLE = "PERDURE_ACTOR"
LOG_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works with. ``temporal`` is the connection that ``client`` uses; ``serves`` says whether a worker
    runs in this process."""

    settings: Settings
    server: Server
    client: Client
    temporal: TemporalClient
    serves: bool = True

    def link(self, run_id: str) -> str | None:
        """Where the Temporal UI shows the run, when there is a UI that we know of."""
        if not self.server.ui_url:
            return None
        return f"{self.server.ui_url}/namespaces/{self.settings.namespace}/workflows/{quote(run_id, safe='')}"

    @asynccontextmanager
    async def answered(self) -> AsyncIterator[None]:
        """A block that ends with ServerUnavailableError when the server is silent for longer than settings allow."""
        with self.advised():
            async with bounded(self.server.address, self.temporal, self.settings.connect_timeout):
                yield

    @contextmanager
    def advised(self) -> Iterator[None]:
        """A block whose ServerUnavailableError says how this machine's own server comes back, when it is that one."""
        try:
            yield
        except ServerUnavailableError as error:
            if self.server.folder is None:
                raise
            raise ServerUnavailableError(error.address, error.why, remedy=OWN_COMES_BACK) from None


def perform(work: Coroutine[object, object, int], last: float = LAST_WORK) -> int:
    """Run a command's work and return its exit code.

    What the work leaves running is cancelled and gets ``last`` seconds to end; the process ends without the rest.
    ``asyncio.run`` would wait for calls that report to a server that is gone.
    """
    runner = asyncio.Runner()
    try:
        return runner.run(_alone(work, last))
    finally:
        if not asyncio.all_tasks(runner.get_loop()):
            runner.close()


async def _alone(work: Coroutine[object, object, int], last: float) -> int:
    try:
        return await work
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        ended, _ = await asyncio.wait(left, timeout=last) if left else ((), ())
        for task in ended:
            if not task.cancelled():
                task.exception()


def read_settings(screen: Screen, given: Mapping[str, object] | None = None) -> Loaded:
    """The settings, with ``given`` options before all others; warnings are shown, logs go to a file.

    Raises InvalidSettingsError.
    """
    loaded = load_settings(given)
    for warning in loaded.warnings:
        screen.note(f"warning: {warning}", "alert")
    configure_logging(loaded.settings, loaded.environ, log_file(loaded.settings))
    return loaded


def log_file(settings: Settings) -> IO[str]:
    """Where a worker inside a command logs: its lines would run into what the run says. Bounded in size.

    Raises InvalidSettingsError for a file that was named and cannot be written.
    """
    path = settings.log_file
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.is_file() and path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".old.log"))
        return path.open("a", encoding="utf-8")
    except OSError as error:
        if "log_file" in settings.model_fields_set:
            raise InvalidSettingsError(f"PERDURE_LOG_FILE: {path} cannot be written ({error.strerror}).") from None
        return Path("/dev/null").open("a", encoding="utf-8")


@asynccontextmanager
async def reaching(settings: Settings, screen: Screen) -> AsyncIterator[Session]:
    """A session for a command about runs that exist: starts a server only where one has run before.

    Raises ServerUnavailableError, also when the server falls silent while the block runs, and OperatorError when no
    server has ever run on this machine.
    """
    async with found(settings, screen) as session, session.answered():
        yield session


@asynccontextmanager
async def found(settings: Settings, screen: Screen) -> AsyncIterator[Session]:
    """`reaching` for a block that sees itself to a server that falls silent."""
    known = settings.address is not None or DataFolder(settings.data_dir).database.exists()
    async with said(screen, "Looking for the Temporal server …"):
        server = await ensure_server(settings, find=None if known else no_server)
    try:
        temporal = await connect(settings, server.address)
        yield Session(settings, server, Client.wrap(temporal, task_queue=settings.task_queue), temporal, serves=False)
    finally:
        server.release()


def no_server() -> NoReturn:
    """Instead of the program that would start a server: a command that only looks at runs needs one that has some."""
    raise OperatorError(
        "No Temporal server runs on this machine, and none has run here before: there are no runs. "
        'Start one with `perdure run "…"`, or name a server with PERDURE_ADDRESS.'
    )


@asynccontextmanager
async def said(screen: Screen, line: str, *, after: float = UNNOTICED) -> AsyncIterator[None]:
    """Say ``line`` when the block takes longer than ``after`` seconds."""
    late = asyncio.get_running_loop().call_later(after, screen.note, line)
    try:
        yield
    finally:
        late.cancel()


def watching(session: Session) -> Callable[[Callable[[str], None]], Coroutine[object, object, None]]:
    """Looks after the session's server while a run is followed; what there is to say of it goes to its argument."""
    return functools.partial(watch, session.server.address, answering(session.temporal))


def actor() -> str:
    """Who gives orders from here: who the environment says it is, else the user's name; empty when nobody knows.

    Nothing proves either: whoever may use the server could write any name.
    """
    if given := " ".join(os.environ.get(ACTOR_VARIABLE, "").split()):
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def desk(screen: Screen) -> Desk | None:
    """Where a person is asked; None when there is no terminal."""
    return Desk(Lines(sys.stdin.fileno()), screen.ask, actor()) if interactive() else None
