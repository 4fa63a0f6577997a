from __future__ import annotations

import asyncio
import json
import socket
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from temporalio.client import Client

from perdure.cli.screen import Screen
from perdure.cli.session import Session, perform, said
from perdure.cli.start import keeping
from perdure.client.client import Client as PerdureClient
from perdure.contracts.errors import ServerUnavailableError
from perdure.testing.script import asks, save, says, script
from perdure.worker.folder import DataFolder
from perdure.worker.server import Server
from perdure.worker.settings import Settings
from tests.cli.programs import Home, until
from tests.cli.silence import falling_silent
from tests.cli.test_start import failed
from tests.servers import free_port


@pytest.mark.parametrize(
    "arguments",
    [
        ["ls"],
        ["inbox"],
        ["stop", "--all"],
        ["grants"],
        ["show", "x"],
        ["approve", "x"],
        ["send", "x", "text"],
        ["cancel", "x"],
    ],
)
def test_where_no_server_ever_ran_none_is_started_to_look_for_runs(lonely: Home, arguments: list[str]) -> None:
    ended = lonely.run(*arguments)

    failed(ended, 3, "No Temporal server runs on this machine", "perdure run", "PERDURE_ADDRESS")
    assert not (lonely.path / "data" / "temporal.db").exists()


def test_a_port_that_another_program_has_is_exit_code_3(lonely: Home) -> None:
    port = int(lonely.settings["PERDURE_PORT"])
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()

        ended = lonely.run("run", "task", "--model", "demo:demo", PERDURE_CONNECT_TIMEOUT="500ms")

    failed(ended, 3, f"error: Port {port} is taken")


def test_a_run_starts_a_server_and_later_commands_find_its_runs_again(lonely: Home, tmp_path: Path) -> None:
    write = asks("write_file", path="out.txt", content="text")
    model = save(script(write, says("Written.")), tmp_path / "script.json")

    left = lonely.run("run", "Write", "--model", model, "--run-id", "mine")
    until(lambda: lonely.lists("mine", "--status", "waiting"))
    listed = lonely.run("ls", "--json")
    approved = lonely.run("approve", "mine")
    followed = lonely.run("follow", "mine")

    assert left.returncode == 4, left
    assert "Started a Temporal server at 127.0.0.1:" in left.stderr
    (row,) = map(json.loads, listed.stdout.splitlines())
    assert (row["run_id"], row["status"], row["awaits"]) == ("mine", "waiting_approval", "t1s1c1 write_file")
    assert "applied when one comes" in approved.stderr
    assert followed.returncode == 0, followed
    assert "Written." in followed.stdout
    assert (tmp_path / "out.txt").read_text() == "text"


CONNECTING = 4
"""Requests before a command asks about runs: twice, what the server can do and whether it has the namespace."""


@pytest.mark.parametrize(
    "arguments",
    [
        *(["ls"], ["inbox"], ["grants"], ["stop", "--all", "--yes"], ["approve", "--all", "--yes"]),
        *(["grants", "--run", "x"], ["grants", "revoke", "x/g1"], ["show", "x"], ["export", "x"], ["follow", "x"]),
        *(
            ["approve", "x"],
            ["deny", "x"],
            ["answer", "x", "text"],
            ["interrupt", "x"],
            ["close", "x"],
            ["cancel", "x"],
        ),
        *(["send", "x", "text"], ["edit", "x", "u1", "text"], ["withdraw", "x", "u1"], ["setup"]),
    ],
)
def test_a_server_that_takes_connections_and_says_nothing_is_named_with_3(
    home: Home, foreign_port: int, arguments: list[str]
) -> None:
    address = f"127.0.0.1:{foreign_port}"

    ended = home.run(*arguments, PERDURE_ADDRESS=address, PERDURE_CONNECT_TIMEOUT="50ms")

    failed(ended, 3, f"No Temporal server answers at {address} (no answer within 0.05 s)", "PERDURE_ADDRESS")


@pytest.mark.parametrize(
    "arguments", [["ls"], ["inbox"], ["show", "x"], ["approve", "x"], ["send", "x", "text"], ["follow", "x"]]
)
def test_a_server_that_falls_silent_when_it_is_asked_is_named_with_3(
    home: Home, dev_server: str, arguments: list[str]
) -> None:
    with falling_silent(dev_server, after=CONNECTING) as address:
        ended = home.run(*arguments, PERDURE_ADDRESS=address, PERDURE_CONNECT_TIMEOUT="500ms")

    failed(ended, 3, f"No Temporal server answers at {address} (no answer", "PERDURE_ADDRESS")


async def without_server(folder: DataFolder | None) -> Session:
    """A session whose server is gone; ``folder`` is the data folder of a server of this machine."""
    address = f"127.0.0.1:{free_port()}"
    temporal = await Client.connect(address, lazy=True)
    settings = Settings(connect_timeout=timedelta(milliseconds=10))
    return Session(settings, Server(address, None, folder=folder), PerdureClient.wrap(temporal), temporal)


async def test_a_server_of_this_machine_that_is_gone_comes_back_by_any_command(tmp_path: Path) -> None:
    session = await without_server(DataFolder(tmp_path))

    with pytest.raises(ServerUnavailableError, match="`perdure ls`, starts it again") as gone:
        async with session.answered():
            await asyncio.Event().wait()

    assert session.server.address in str(gone.value)
    assert "start-dev" not in str(gone.value)


async def test_a_server_of_somebody_else_is_started_by_whoever_has_it() -> None:
    session = await without_server(None)

    with pytest.raises(ServerUnavailableError, match="start-dev"):
        async with session.answered():
            await asyncio.Event().wait()


async def test_a_run_whose_server_is_gone_is_kept_and_says_how_it_goes_on(tmp_path: Path) -> None:
    session = await without_server(DataFolder(tmp_path))
    err = StringIO()

    with (
        pytest.raises(ServerUnavailableError, match="`perdure ls`"),
        keeping(session, "mine", Screen(StringIO(), err), ("tools.py",)),
    ):
        raise ServerUnavailableError(session.server.address, "no answer for 20 s")

    assert "Run mine is kept" in err.getvalue()
    assert "perdure follow mine --tools tools.py" in err.getvalue()


class Heard(StringIO):
    """A stream that tells when something is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.something = asyncio.Event()

    def write(self, text: str) -> int:
        self.something.set()
        return super().write(text)


def test_what_does_not_end_when_it_is_told_to_does_not_hold_up_a_command() -> None:
    freed = asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def stuck() -> None:
        while not freed.is_set():
            with suppress(asyncio.CancelledError):
                await freed.wait()

    async def work() -> int:
        loops.append(asyncio.get_running_loop())
        begun.add(asyncio.create_task(stuck()))
        await asyncio.sleep(0)
        return 4

    begun: set[asyncio.Task[None]] = set()
    assert perform(work(), last=0.01) == 4

    freed.set()
    loops[0].run_until_complete(begun.pop())
    loops[0].close()


async def test_what_takes_longer_than_a_moment_is_said_while_it_goes_on() -> None:
    err = Heard()

    async with said(Screen(StringIO(), err), "Reading …", after=0):
        await err.something.wait()

    assert err.getvalue() == "Reading …\n"


async def test_what_is_done_at_once_is_not_worth_a_word() -> None:
    err = StringIO()

    async with said(Screen(StringIO(), err), "Reading …", after=60):
        pass

    assert err.getvalue() == ""
