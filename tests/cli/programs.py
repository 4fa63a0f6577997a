"""The program ``perdure`` as a person meets it: as a process of its own, with or without a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.servers import DEADLINE, outside

PERDURE = str(Path(sys.executable).parent / "perdure")


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder of the test's own, and what the program's settings are there."""

    path: Path
    settings: Mapping[str, str]

    def environment(self, **changes: str) -> dict[str, str]:
        """The environment of a program that lives here."""
        folders = {"HOME": str(self.path), "XDG_STATE_HOME": str(self.path / "state")}
        return {**outside(), **folders, "TERM": "dumb", **self.settings, **changes}

    def run(self, *arguments: str, text: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
        """Run ``perdure`` to its end without a terminal."""
        return subprocess.run(
            [PERDURE, *arguments],
            cwd=self.path,
            env=self.environment(**changes),
            input=text,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )


TAKES_THE_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """``perdure`` at a terminal: what it shows can be awaited, and lines typed. `kill` it after use."""

    def __init__(self, home: Home, *arguments: str, **changes: str) -> None:
        self.shown = ""
        self._seen = 0
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-c", TAKES_THE_TERMINAL, PERDURE, *arguments],
            cwd=home.path,
            env=home.environment(**changes),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)

    def until(self, text: str, *, deadline: float = DEADLINE) -> None:
        """Wait until ``text`` is shown, behind what was awaited before. Fails when the program ends first."""
        end = time.monotonic() + deadline
        while (found := self.shown.find(text, self._seen)) < 0:
            assert self._read(end), f"no {text!r} was shown; this was:\n{self.shown}"
        self._seen = found + len(text)

    def type(self, line: str) -> None:
        """Type a line and Enter."""
        os.write(self._ours, f"{line}\n".encode())

    def press(self, key: str) -> None:
        """Press Ctrl and a letter."""
        os.write(self._ours, bytes([ord(key.upper()) - 64]))

    def terminate(self) -> None:
        """Ask the program to end (SIGTERM)."""
        self._process.terminate()

    def wait(self, *, deadline: float = DEADLINE) -> int:
        """Wait until the program has ended and return its exit code."""
        end = time.monotonic() + deadline
        while self._read(end):
            pass
        return self._process.wait(deadline)

    def kill(self) -> None:
        """Kill -9 the program. Harmless when it has ended."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """`kill`, and let go of the terminal."""
        self.kill()
        os.close(self._ours)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"nothing more is shown; this was:\n{self.shown}"
        try:
            read = os.read(self._ours, 65536)
        except OSError:
            read = b""
        self.shown += read.decode(errors="replace").replace("\r\n", "\n")
        return bool(read)
