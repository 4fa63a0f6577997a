from __future__ import annotations

import asyncio
import json
import socket
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.cli.session import answered
from perdure.contracts.errors import ServerUnavailableError
from perdure.testing.script import asks, save, says, script
from tests.cli.programs import Home
from tests.cli.test_start import failed


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

    assert ended.returncode == 3
    assert ended.stderr.splitlines()[-1].startswith(f"error: Port {port} is taken")
    assert "Traceback" not in ended.stderr


def test_a_run_starts_a_server_and_later_commands_find_its_runs_again(lonely: Home, tmp_path: Path) -> None:
    write = asks("write_file", path="out.txt", content="text")
    model = save(script(write, says("Written.")), tmp_path / "script.json")

    left = lonely.run("run", "Write", "--model", model, "--run-id", "mine")
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


async def test_a_server_that_hangs_is_not_waited_for_without_end() -> None:
    with pytest.raises(ServerUnavailableError, match=r"localhost:7233 \(no answer within 0.01 s\)"):
        async with answered("localhost:7233", timedelta(milliseconds=10)):
            await asyncio.Event().wait()
