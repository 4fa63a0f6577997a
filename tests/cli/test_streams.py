"""Streams that are closed or full, as a shell hands them over: real processes, which only say what they are."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from perdure.testing.script import asks, says
from tests.cli.conftest import Play
from tests.cli.programs import PERDURE, Home
from tests.servers import DEADLINE, outside


def shell(tmp_path: Path, line: str) -> subprocess.CompletedProcess[str]:
    environment = {**outside(), "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    command = line.replace("perdure", shlex.quote(PERDURE), 1)
    return subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=DEADLINE
    )


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("perdure --version >&-", 0, ""),
        ("perdure policy check ls >&-", 0, ""),
        ("perdure --version 2>&-", 0, ""),
        ("perdure nonsense 2>&-", 2, ""),
        ("perdure --version <&- >&- 2>&-", 0, ""),
        ("perdure run - <&-", 2, "error: The task is empty."),
        ("perdure run - <latin1.txt", 2, "error: The standard input is no text in UTF-8 (byte 4)."),
        ("perdure run $(cat latin1.txt)", 2, r"error: The argument 'caf\udce9' is no text in UTF-8"),
        ("perdure --version >/dev/full", 1, "error: The output cannot be written: No space left on device."),
        ("perdure agents >/dev/full", 1, "error: The output cannot be written: No space left on device."),
    ],
)
def test_a_stream_that_takes_or_gives_nothing_of_use_is_at_most_one_line(
    tmp_path: Path, line: str, code: int, error: str
) -> None:
    (tmp_path / "latin1.txt").write_bytes("café".encode("latin1"))

    ended = shell(tmp_path, line)

    assert ended.returncode == code, ended
    assert ended.stderr.startswith(error)
    assert ended.stderr.count("\n") == bool(error)


TALKATIVE = """
import os

print("imported")


def shout(name: str) -> str:
    print("printed")
    os.write(1, b"written\\n")
    return "HELLO"
"""


def test_what_tools_print_never_lands_between_the_events_as_json(home: Home, play: Play) -> None:
    (home.path / "talkative.py").write_text(TALKATIVE)
    model = play(asks("shout", name="Ana"), says("Shouted."))

    ended = home.process("run", "Shout", "--model", model, "--tools", "talkative.py", "--yes", "--json")

    assert ended.returncode == 0, ended
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert events[-1]["kind"] == "run_closed"
    assert {"imported", "printed", "written"} <= set(ended.stderr.splitlines())
