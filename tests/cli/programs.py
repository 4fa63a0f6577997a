"""The program ``perdure`` as a person meets it, with or without a terminal.

A process of its own takes a second to start. So most tests have the program run inside their own process, from its
arguments to its exit code; what is about processes, signals and terminals has real ones.
"""

from __future__ import annotations

import io
import logging
import multiprocessing
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from perdure.cli import run_command
from perdure.cli.exits import guarded
from tests.cli.forked import become
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
        """Run ``perdure`` to its end without a terminal, inside this process."""
        streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="") for data in (text.encode(), b"", b"")]
        with ExitStack() as borrowed:
            borrowed.enter_context(outer_world(self.path, self.environment(**changes)))
            borrowed.enter_context(system(["perdure", *arguments], *streams))
            borrowed.enter_context(logs())
            code = int(guarded(run_command))
        for stream in streams:
            stream.seek(0)
        _, shown, errors = (stream.read() for stream in streams)
        return subprocess.CompletedProcess([*arguments], code, shown, errors)

    def lists(self, run_id: str, *options: str) -> bool:
        """Whether ``perdure ls`` has the run."""
        return f'"run_id":"{run_id}"' in self.run("ls", "--json", "--limit", "1000", *options).stdout

    def process(self, *arguments: str, text: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
        """Run ``perdure`` to its end without a terminal, as a process of its own."""
        return subprocess.run(
            [PERDURE, *arguments],
            cwd=self.path,
            env=self.environment(**changes),
            input=text,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )


def until(condition: Callable[[], bool]) -> None:
    """Wait until ``condition`` holds: for what a server's lists say, which lag behind and tell nobody."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "that did not come to be"


@contextmanager
def outer_world(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Be in ``folder`` with exactly this environment."""
    before, here = dict(os.environ), Path.cwd()
    os.chdir(folder)
    _replace(os.environ, environment)
    try:
        yield
    finally:
        _replace(os.environ, before)
        os.chdir(here)


def _replace(variables: os._Environ[str], others: Mapping[str, str]) -> None:
    for name in variables.keys() - others.keys():
        del variables[name]
    variables.update(others)


@contextmanager
def system(
    arguments: list[str], stdin: io.TextIOWrapper, out: io.TextIOWrapper, err: io.TextIOWrapper
) -> Iterator[None]:
    """Have these arguments and standard streams."""
    before = (sys.argv, sys.stdin, sys.stdout, sys.stderr)
    sys.argv, sys.stdin, sys.stdout, sys.stderr = arguments, stdin, out, err
    try:
        yield
    finally:
        out.flush()
        err.flush()
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before


@contextmanager
def logs() -> Iterator[None]:
    """Let logging be configured, and undo it."""
    root = logging.getLogger()
    handlers, level, config = root.handlers[:], root.level, structlog.get_config()
    try:
        yield
    finally:
        for handler in root.handlers:
            if handler in handlers or not isinstance(handler, logging.StreamHandler):
                continue
            if handler.stream not in (sys.stdout, sys.stderr):
                handler.stream.close()
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.configure(**config)


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["perdure.cli.resume", "perdure.cli.serve", "perdure.cli.start"])


class Terminal:
    """``perdure`` at a terminal of its own: what it shows can be awaited, and lines typed. `close` it after use.

    It is a process of its own, forked off one that has loaded the program's modules: see `tests.cli.forked`.
    """

    def __init__(self, home: Home, *arguments: str, **changes: str) -> None:
        self.shown = ""
        self._seen = 0
        self._ours, theirs = pty.openpty()
        there, here = FORKS.Pipe(duplex=False)
        given = (list(arguments), str(home.path), home.environment(**changes), os.ttyname(theirs), here)
        self._process = FORKS.Process(target=become, args=given)
        self._process.start()
        assert there.poll(DEADLINE), "the process did not take the terminal"
        os.close(theirs)
        there.close()
        here.close()

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
        self._process.join(deadline)
        assert self._process.exitcode is not None
        return self._process.exitcode

    def kill(self) -> None:
        """Kill -9 the program. Harmless when it has ended."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """`kill`, and let go of the terminal."""
        self.kill()
        self._process.close()
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
