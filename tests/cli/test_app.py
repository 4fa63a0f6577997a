from __future__ import annotations

import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from perdure.cli.app import COMMANDS, app
from tests.cli.programs import Home

NEVER_FOR_HELP = ("temporalio", "pydantic", "rich", "httpx")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, {})


def command(name: str) -> click.Command:
    found = app.get_command(click.Context(app), name)
    assert found is not None
    return found


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["approve", "--help"], ["--version"]])
def test_help_does_not_wait_for_heavy_libraries(arguments: list[str]) -> None:
    program = (
        "import sys; from perdure.cli.app import app\n"
        f"app.main({arguments!r}, standalone_mode=False)\n"
        f"sys.stderr.write(repr([name for name in {NEVER_FOR_HELP!r} if name in sys.modules]))"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    assert ended.stderr == "[]"
    assert ended.returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_an_example(name: str) -> None:
    text = command(name).help or ""

    assert f"perdure {name}" in text
    assert "Example" in text


def examples() -> list[str]:
    """Every example that the help of a command gives."""
    texts = [command(name).help or "" for name in COMMANDS]
    for name in ("grants", "models", "policy"):
        group = command(name)
        assert isinstance(group, click.Group)
        texts += [each.help or "" for each in group.commands.values()]
    return [line.strip() for text in texts for line in text.splitlines() if re.match(r"\s+(\S+=\S+ )?perdure ", line)]


@pytest.mark.parametrize("example", examples())
def test_every_example_of_a_help_text_can_be_typed(example: str) -> None:
    words = shlex.split(re.sub(r"^\S+=\S+ ", "", example))
    typed = itertools.takewhile(lambda word: word not in ("|", "<", ">"), words)
    _, name, *arguments = typed
    found = command(name)
    if isinstance(found, click.Group) and arguments and arguments[0] in found.commands:
        found, arguments = found.commands[arguments[0]], arguments[1:]

    found.make_context(name, arguments)


def test_every_command_is_listed(home: Home) -> None:
    ended = home.run("--help")

    assert ended.returncode == 0
    for name in app.list_commands(click.Context(app)):
        assert f"\n  {name} " in ended.stdout


@pytest.mark.parametrize("group", [[], ["policy"]])
def test_without_a_command_the_help_is_shown(home: Home, group: list[str]) -> None:
    ended = home.run(*group)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == home.run(*group, "--help").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["run"],
        ["run", "task", "--nonsense"],
        ["run", "task", "--steps", "0"],
        ["run", "task", "--mode", "wild"],
        ["ls", "--status", "happy"],
        ["show"],
        ["show", "two words"],
        ["show", ""],
        ["approve", "x" * 300],
        ["answer", "run-1"],
    ],
)
def test_wrong_usage_is_one_line_that_names_the_help(home: Home, arguments: list[str]) -> None:
    ended = home.run(*arguments)

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1
    assert "--help" in ended.stderr


def test_a_mistyped_command_is_guessed(home: Home) -> None:
    assert "Did you mean `perdure approve`?" in home.run("aprove", "run-1").stderr


def test_the_version_is_said(home: Home) -> None:
    assert home.run("--version").stdout.startswith("perdure ")
