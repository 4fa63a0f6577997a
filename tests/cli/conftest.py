"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perdure.providers.scripted import Reply, ScriptedFailure
from perdure.testing.script import save, script
from tests.cli.programs import Home, Terminal

AtTerminal = Callable[..., Terminal]
Play = Callable[..., str]


@pytest.fixture
def home(tmp_path: Path, dev_server: str, task_queue: str) -> Home:
    """A home whose settings name the session's server and a task queue of the test's own."""
    return Home(tmp_path, {"PERDURE_ADDRESS": dev_server, "PERDURE_TASK_QUEUE": task_queue})


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Write a script of a model's replies; returns the name of the model that plays it."""

    def write(*lines: Reply | ScriptedFailure) -> str:
        return save(script(*lines), tmp_path / "script.json")

    return write


@pytest.fixture
def at_terminal(home: Home) -> Iterator[AtTerminal]:
    """Start ``perdure`` at a terminal; it is ended after the test."""
    opened: list[Terminal] = []

    def start(*arguments: str, **changes: str) -> Terminal:
        opened.append(Terminal(home, *arguments, **changes))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()
