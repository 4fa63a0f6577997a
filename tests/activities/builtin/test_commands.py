from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from perdure.activities.builtin.commands import execute_command
from perdure.activities.builtin.processes import KEPT_BYTES
from perdure.activities.functions import tool_from
from perdure.activities.results import MOST_BYTES
from perdure.activities.toolbox import Toolbox
from perdure.activities.tools import tool_activities
from perdure.contracts.tools import ToolOutput
from tests.activities.calling import called, context


def test_it_declares_that_it_executes_a_command_and_may_not_run_twice() -> None:
    spec = tool_from(execute_command).spec

    assert (spec.effect, spec.idempotent, spec.command_argument) == ("execute", False, "command")


def test_its_own_limit_ends_before_the_deadline_that_it_declares() -> None:
    spec = tool_from(execute_command).spec
    longest = spec.parameters["properties"]["timeout_seconds"]["maximum"]  # type: ignore[index,call-overload]  # JSON values have no narrower type

    assert isinstance(longest, float)
    assert spec.deadline.total_seconds() > longest + 5


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("echo hej", "Exit code 0.\nhej", 0),
        ("echo hej; echo oh >&2; exit 3", "Exit code 3.\nhej\n[stderr]\noh", 3),
        ("true", "Exit code 0.", 0),
        ("no-such-program-x 2>/dev/null", "Exit code 127.", 127),
        ("kill -9 $$", "Ended by signal SIGKILL.", -9),
    ],
)
async def test_the_exit_code_and_the_output_are_told(tmp_path: Path, command: str, text: str, code: int) -> None:
    assert await called(execute_command, tmp_path, command=command) == ToolOutput(
        text=text, data={"exit_code": code, "timed_out": False}
    )


async def test_it_works_in_the_workspace(tmp_path: Path) -> None:
    await called(execute_command, tmp_path, command="echo hej > a.txt")

    assert (tmp_path / "a.txt").read_text() == "hej\n"


async def test_a_command_that_takes_too_long_is_an_error_with_what_it_had_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")

    output = await called(execute_command, tmp_path, command="echo hej; cat never", timeout_seconds=2)

    assert output.status == "error"
    assert output.text == "Stopped: it did not end within 2 s.\nhej"
    assert output.data == {"exit_code": -15, "timed_out": True}


async def test_the_longest_output_fits_into_a_result_with_the_exit_code_first(tmp_path: Path) -> None:
    size = 4 * KEPT_BYTES
    output = await called(
        execute_command, tmp_path, command=f"head -c {size} /dev/urandom; head -c {size} /dev/urandom >&2; exit 9"
    )

    assert output.text.startswith("Exit code 9.\n")
    assert len(output.text.encode()) <= MOST_BYTES


async def test_no_secret_of_the_worker_reaches_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_API_KEY", "hunter2")
    monkeypatch.setenv("EXAMPLE", "plain")

    output = await called(execute_command, tmp_path, command="env")

    assert "EXAMPLE=plain" in output.text
    assert "hunter2" not in output.text
    assert "PERDURE_IDEMPOTENCY_KEY=run/t1s1c1" in output.text


async def test_a_workspace_that_is_gone_is_told(tmp_path: Path) -> None:
    output = await called(execute_command, tmp_path / "none", command="ls")

    assert output == ToolOutput(
        status="error", text=f"The workspace {tmp_path / 'none'} is not a folder on this worker."
    )


async def test_a_command_that_no_shell_takes_is_told(tmp_path: Path) -> None:
    for command in ("echo a\0b", "x" * 3_000_000):
        output = await called(execute_command, tmp_path, command=command)

        assert output.status == "error"
        assert output.text.startswith("The command cannot be started: ")


async def test_a_stop_ends_the_command(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "door")
    os.mkfifo(tmp_path / "never")
    environment = ActivityEnvironment()
    (served,) = tool_activities(Toolbox([tool_from(execute_command)]))
    running = asyncio.ensure_future(environment.run(served, {"command": "exec 9>door; cat never"}, context(tmp_path)))
    door = await asyncio.to_thread((tmp_path / "door").open, "rb")

    environment.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    with door:
        assert await asyncio.to_thread(door.read) == b""
