"""Every command of the README is run, in its order, as a reader would run it: in one folder, with one server."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from perdure.cli.app import app
from tests.cli.conftest import AtTerminal
from tests.cli.model_server import ONLY_TALKS, model_server
from tests.cli.programs import Home, until
from tests.servers import DEADLINE, ROOT, binary, running_server

README = (ROOT / "README.md").read_text(encoding="utf-8")
SUMMARISE = "Summarise the files of this folder into SUMMARY.md"

NOT_RUN = {
    "cd perdure": "where the clone is, is the reader's affair",
    "make run": "makes an environment of its own; the tests of the house are about it, and what it runs is run below",
    "export OPENAI_API_KEY=…": "needs a key that costs money",
}
"""Commands that no test can run, and why."""

EXIT_CODES = {f'perdure run "{SUMMARISE}" --workspace examples/notes --run-id harbour': 4}
"""Where not 0: without a terminal a run that asks is left, as it is when its process is killed."""

DECIDES = re.compile(r"\b(approve|deny)\b")
"""What lets a waiting run go on: a reader types the next command when it has come to rest again."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language and its text."""

    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The commands in it, without the comments behind them."""
        lines = [re.sub(r"\s{2,}# .*", "", line) for line in self.text.splitlines()]
        match self.language:
            case "sh":
                return [line for line in lines if line]
            case "console":
                return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
            case _:
                return []


BLOCKS = [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)]
COMMANDS = [command for block in BLOCKS for command in block.commands]
TOOL, PROGRAM = (block.text for block in BLOCKS if block.language == "python")


@dataclass(slots=True)
class Reader:
    """Somebody who has the clone's examples, a server on this machine, and types what the README says."""

    home: Home
    address: str
    at_terminal: AtTerminal
    serves: bool = False
    changes: int = 0

    def types(self, command: str) -> str:
        """What the command says; it ends with the exit code that belongs to it."""
        if command.startswith("perdure worker"):
            self.serve(command)
            return ""
        if " two" in command or "--all" in command or command == "perdure inbox":
            self.serve("perdure worker --workspace examples/notes")
            self.leave_two_waiting()
        ended = self.run(command)
        assert ended.returncode == EXIT_CODES.get(command, 0), (command, ended)
        assert "Traceback" not in ended.stderr
        if self.serves and DECIDES.search(command):
            self.home.run("follow", "two", "--no-worker")
        return ended.stdout + ended.stderr

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run one command."""
        name, *arguments = shlex.split(command)
        if name == "temporal":
            environment = self.home.environment(TEMPORAL_ADDRESS=self.address)
            program = [binary("temporal"), *arguments]
            return subprocess.run(program, env=environment, capture_output=True, text=True, timeout=DEADLINE)
        assert name == "perdure"
        if "ollama:qwen3" not in arguments:
            return self.home.run(*arguments)
        with model_server(ONLY_TALKS) as url:
            providers = {"ollama": {"base_url": url, "dialect": "ollama"}}
            return self.home.run(*arguments, PERDURE_PROVIDERS=json.dumps(providers))

    def serve(self, command: str) -> None:
        """Have a worker, started once."""
        if not self.serves:
            self.at_terminal(*shlex.split(command)[1:]).until("ready")
            self.serves = True

    def leave_two_waiting(self) -> None:
        """Have a run ``two`` that waits to write what it has not written before."""
        shown = self.home.run("show", "two", "--json")
        status = json.loads(shown.stdout)["status"] if shown.returncode == 0 else ""
        if status == "waiting_approval":
            return
        self.changes += 1
        with (self.home.path / "examples" / "notes" / "open-questions.txt").open("a") as notes:
            notes.write(f"Question {self.changes}: who brings the boat?\n")
        started = self.home.run("run", SUMMARISE, "--workspace", "examples/notes", "--run-id", "two")
        assert started.returncode == 4, started
        until(lambda: self.home.lists("two", "--status", "waiting"))


@pytest.fixture
def address() -> Iterator[str]:
    """A server of the reader's own: other tests' runs are not to be stopped."""
    with running_server() as started:
        yield started


@pytest.fixture
def home(alone: Home, address: str, tmp_path: Path) -> Home:
    """A clone's folder on a machine with that server; an editor that changes one word."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "due.py").write_text(TOOL)
    port = address.rpartition(":")[2]
    machine = {"PERDURE_PORT": port, "PERDURE_DATA_DIR": str(tmp_path / "data"), "PERDURE_UI": "false"}
    return Home(tmp_path, {**alone.settings, **machine, "EDITOR": "sed -i s/Summary/Overview/"})


def test_every_command_of_the_readme_works_in_its_order(home: Home, address: str, at_terminal: AtTerminal) -> None:
    reader = Reader(home, address, at_terminal)

    said = {command: reader.types(command) for command in COMMANDS if command not in NOT_RUN}

    assert "default  demo:demo" in said["perdure models"]
    assert "harbour" in said["perdure ls"]
    assert "No worker serves the run now" in said["perdure approve harbour"]
    assert "run  harbour completed" in said["perdure follow harbour"]
    assert "who may approve: anybody" in said["perdure inbox"]
    assert "# Overview of this folder" in said["perdure approve two t1s3c1 --edit"]
    assert "canceled two" in said[COMMANDS[-2]]
    assert (home.path / "examples" / "notes" / "SUMMARY.md").exists()
    follows_a_run_and_approves(home, address)


def follows_a_run_and_approves(home: Home, address: str) -> None:
    """The program of the README starts a run, approves what it asks, and prints its output."""
    ended = subprocess.run(
        [sys.executable, "-u", "-c", PROGRAM.replace("localhost:7233", address)],
        env=home.environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert "wrote SUMMARY.md" in ended.stdout, ended
    assert "Traceback" not in ended.stderr


def test_what_is_not_run_is_named_with_a_reason_and_is_still_there() -> None:
    assert set(NOT_RUN) <= set(COMMANDS)
    assert all(NOT_RUN.values())
    assert all(command.split()[0] in ("perdure", "temporal") for command in COMMANDS if command not in NOT_RUN)


def test_the_readme_stays_short() -> None:
    assert len(README.splitlines()) <= 200


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\bperdure ([a-z]+)\b(?=[^\n]*`)", README))))
def test_every_command_that_is_named_exists(name: str) -> None:
    assert app.get_command(click.Context(app), name) is not None


def test_every_command_is_in_the_manual() -> None:
    manual = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| Command \|.*?^$", manual, re.MULTILINE | re.DOTALL)

    missing = [name for name in app.list_commands(click.Context(app)) if not re.search(rf"\b{name}\b", table)]

    assert missing == []
