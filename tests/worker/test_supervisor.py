"""What keeps our own server, and that the server does not outlive it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from perdure.worker.connection import answers
from perdure.worker.folder import DataFolder
from perdure.worker.server import ensure_server, until_free
from tests.worker.own import own


async def test_the_server_does_not_outlive_its_supervisor(tmp_path: Path) -> None:
    settings = own(tmp_path)
    folder = DataFolder(settings.data_dir)
    server = await ensure_server(settings)
    os.kill(supervisor_of(folder), signal.SIGKILL)
    await until_free(folder.lock)
    assert not await answers(server.address)
    server.release()


def supervisor_of(folder: DataFolder) -> int:
    """The process whose command line names the folder's users."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(folder.users).encode() in command:
                return int(entry.name)
    raise AssertionError("no supervisor runs")
