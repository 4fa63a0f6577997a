from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.activities.builtin.processes import KEPT_BYTES, Ended, run_program, run_shell

NOW = timedelta(milliseconds=1)
SOON = timedelta(seconds=2)
"""Long enough for a busy machine to have started the command."""

LONG = timedelta(minutes=5)

IGNORING = "while :; do read -r line < never; done"


async def shell(command: str, folder: Path, *, limit: timedelta = LONG, grace: timedelta = LONG) -> Ended:
    return await run_shell(command, folder=folder, environment={"PATH": os.environ["PATH"]}, limit=limit, grace=grace)


class Door:
    """A pipe with a name that processes of a command hold open: its end comes when the last of them is gone."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.said = ""

    async def says(self, text: str) -> None:
        """Wait until the holders have written ``text``."""
        await self._until(lambda read: text in self.said)

    async def shut(self) -> None:
        """Wait until no process holds it, then close it."""
        await self._until(lambda read: not read)
        os.close(self._file)

    async def _until(self, reached: Callable[[bytes], bool]) -> None:
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def readable() -> None:
            read = os.read(self._file, 1024)
            self.said += read.decode()
            if reached(read):
                loop.remove_reader(self._file)
                done.set()

        loop.add_reader(self._file, readable)
        await asyncio.wait_for(done.wait(), 60)


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path / "door")


async def test_a_command_runs_in_its_folder_and_gives_both_streams_and_its_exit_code(tmp_path: Path) -> None:
    ended = await shell("pwd; echo oh >&2; exit 3", tmp_path)

    assert ended == Ended(3, f"{tmp_path}\n", "oh\n", timed_out=False)


async def test_a_command_has_the_given_environment_and_no_other(tmp_path: Path) -> None:
    ended = await run_shell("echo $A$HOME", folder=tmp_path, environment={"A": "a"}, limit=LONG)

    assert ended.output == "a\n"


async def test_a_command_gets_no_input_and_does_not_wait_for_one(tmp_path: Path) -> None:
    assert (await shell("cat; read -r x; echo $?", tmp_path)).output == "1\n"


async def test_a_command_leads_a_session_of_its_own(tmp_path: Path) -> None:
    ended = await shell("echo $$; ps -o pgid=,sid= -p $$", tmp_path)

    leader, group, session = ended.output.split()
    assert leader == group == session != str(os.getsid(0))


async def test_a_command_that_was_killed_tells_the_signal(tmp_path: Path) -> None:
    assert (await shell("kill -9 $$", tmp_path)).exit_code == -9


async def test_of_a_long_output_head_and_tail_are_kept(tmp_path: Path) -> None:
    ended = await shell("echo start; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end; seq 100000 >&2", tmp_path)

    assert ended.output.startswith("start\nxxx")
    assert ended.output.endswith("xxx\nend\n")
    assert f"\n[… {1_000_011 - 2 * KEPT_BYTES:,} bytes are left out …]\n" in ended.output
    assert len(ended.output.encode()) < 2 * KEPT_BYTES + 100
    assert ended.errors.startswith("1\n2\n")
    assert ended.errors.endswith("100000\n")


async def test_output_up_to_the_cap_is_whole(tmp_path: Path) -> None:
    ended = await shell(f"head -c {2 * KEPT_BYTES} /dev/zero | tr '\\0' x", tmp_path)

    assert ended.output == "x" * (2 * KEPT_BYTES)


async def test_output_that_is_no_text_is_still_shown(tmp_path: Path) -> None:
    assert (await shell(r"printf 'a\377b'", tmp_path)).output == "a�b"


async def test_after_its_limit_a_command_is_asked_to_end_and_may_tidy_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")
    ended = await shell(
        "trap 'echo tidied; exit 7' TERM; echo started; read -r line < never & wait", tmp_path, limit=SOON
    )

    assert ended == Ended(7, "started\ntidied\n", "", timed_out=True)


async def test_after_its_limit_a_grandchild_is_dead_too(tmp_path: Path, door: Door) -> None:
    os.mkfifo(tmp_path / "never")

    ended = await shell("exec 9>door; bash -c 'bash -c \"echo up >&9; read -r x < never\"; :'; :", tmp_path, limit=SOON)

    assert ended.timed_out
    await door.shut()
    assert door.said == "up\n"


async def test_a_group_that_ignores_the_request_is_killed_after_the_grace(tmp_path: Path, door: Door) -> None:
    os.mkfifo(tmp_path / "never")
    running = asyncio.create_task(
        shell(f"exec 9>door; trap '' TERM; (echo up >&9; {IGNORING}) & {IGNORING}", tmp_path, grace=NOW)
    )
    await door.says("up")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await door.shut()


async def test_a_process_in_the_background_is_ended_with_the_command(tmp_path: Path, door: Door) -> None:
    os.mkfifo(tmp_path / "never")

    ended = await shell("exec 9>door; (read -r x < never) & echo started", tmp_path)

    assert ended == Ended(0, "started\n", "", timed_out=False)
    await door.shut()


async def test_a_detached_process_without_output_is_ended_too(tmp_path: Path, door: Door) -> None:
    os.mkfifo(tmp_path / "never")

    ended = await shell("exec 9>door; nohup bash -c 'read -r x < never' >/dev/null 2>&1 & echo started", tmp_path)

    assert ended.output == "started\n"
    await door.shut()


async def test_a_cancelled_caller_ends_the_whole_group(tmp_path: Path, door: Door) -> None:
    os.mkfifo(tmp_path / "never")
    running = asyncio.create_task(shell("exec 9>door; echo up >&9; bash -c 'read -r x < never'; :", tmp_path))
    await door.says("up")

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await door.shut()


async def test_a_caller_that_is_cancelled_twice_leaves_nothing_alive(tmp_path: Path, door: Door) -> None:
    os.mkfifo(tmp_path / "never")
    running = asyncio.create_task(shell(f"exec 9>door; trap '' TERM; echo up >&9; {IGNORING}", tmp_path))
    await door.says("up")

    running.cancel()
    await asyncio.sleep(0)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    await door.shut()


async def test_a_folder_that_is_gone_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await shell("ls", tmp_path / "none")


async def test_no_open_file_is_left_behind(tmp_path: Path) -> None:
    await shell("echo once", tmp_path)
    before = len(os.listdir("/dev/fd"))

    for command in ("echo a", "sleep 9 & echo b", "exit 3"):
        await shell(command, tmp_path)

    assert len(os.listdir("/dev/fd")) == before


async def test_a_program_reads_what_it_is_given_and_one_that_does_not_is_no_trouble(tmp_path: Path) -> None:
    given = b"given " * 200_000
    environment = {"PATH": os.environ["PATH"]}
    read = await run_program(("wc", "-c"), folder=tmp_path, environment=environment, limit=LONG, given=given)
    assert (read.exit_code, int(read.output)) == (0, len(given))
    unread = await run_program(("true",), folder=tmp_path, environment=environment, limit=LONG, given=given)
    assert unread.exit_code == 0
