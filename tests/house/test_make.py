from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.source import ROOT, plain_environment

SAYS_ITS_ARGUMENTS = '#!/bin/sh\nfor argument in "$@"; do echo "[$argument]"; done\n'


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def program(path: Path, source: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    path.chmod(0o755)
    return path


def with_an_environment(clone: Path) -> Path:
    program(clone / ".venv" / "bin" / "python", "#!/bin/sh\n")
    program(clone / ".venv" / "bin" / "perdure", SAYS_ITS_ARGUMENTS)
    (clone / ".venv" / ".ready").touch()
    return clone


def make(clone: Path, *arguments: str, terminal: int | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=clone,
        env=plain_environment(),
        stdin=subprocess.DEVNULL if terminal is None else terminal,
        stdout=subprocess.PIPE if terminal is None else terminal,
        stderr=subprocess.PIPE if terminal is None else terminal,
        text=True,
        timeout=60,
    )


def test_help_lists_every_target(clone: Path) -> None:
    (targets,) = re.findall(r"^\.PHONY: (.+)$", (clone / "Makefile").read_text(), flags=re.MULTILINE)

    ended = make(clone, "help")

    assert re.findall(r"^  make (\w+) +\w", ended.stdout, flags=re.MULTILINE) == targets.split()


@pytest.mark.parametrize("target", ["run", "test", "check"])
def test_a_python_that_is_too_old_is_refused_with_what_to_do(clone: Path, target: str) -> None:
    old = program(clone / "old", '#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.9.18" || exit 1\n')

    ended = make(clone, target, f"PYTHON={old}")

    assert ended.returncode == 2
    assert ended.stderr.startswith(f"Perdure needs Python 3.11 or later with its venv module; {old} is Python 3.9.18.")
    assert "make PYTHON=" in ended.stderr
    assert not (clone / ".venv").exists()


def test_run_without_a_terminal_approves_and_says_so(clone: Path) -> None:
    ended = make(with_an_environment(clone), "run")

    said, *arguments = ended.stdout.splitlines()
    assert ended.returncode == 0
    assert "No terminal" in said
    assert "--yes" in said
    assert arguments == [
        "[run]",
        "[Summarise the files of this folder into SUMMARY.md]",
        "[--workspace]",
        "[examples/notes]",
        "[--yes]",
    ]


def test_run_on_a_terminal_leaves_the_approvals_to_the_person(clone: Path) -> None:
    ours, theirs = os.openpty()
    try:
        ended = make(with_an_environment(clone), "run", terminal=theirs)
        shown = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)

    assert ended.returncode == 0
    assert "[run]" in shown
    assert "--yes" not in shown


def test_run_takes_another_task_as_it_is_written(clone: Path) -> None:
    ended = make(with_an_environment(clone), "run", 'TASK=what\'s in "a; b" & c?', "WORKSPACE=my notes")

    assert '[what\'s in "a; b" & c?]' in ended.stdout
    assert "[my notes]" in ended.stdout


def test_run_ends_when_the_program_fails(clone: Path) -> None:
    program(with_an_environment(clone) / ".venv" / "bin" / "perdure", "#!/bin/sh\nexit 3\n")

    ended = make(clone, "run")

    assert ended.returncode == 2
    assert "Error 3" in ended.stderr


def test_check_shows_the_findings_of_every_tool_and_fails(clone: Path) -> None:
    with_an_environment(clone)
    for tool in ("ruff", "lint-imports", "mypy"):
        program(clone / ".venv" / "bin" / tool, f"#!/bin/sh\necho {tool} was here\n[ {tool} = mypy ]\n")

    ended = make(clone, "check")

    assert ended.returncode == 2
    assert [line.split()[0] for line in ended.stdout.splitlines()[1::2]] == ["ruff", "ruff", "lint-imports", "mypy"]


def test_an_environment_that_is_ready_is_used_again(clone: Path) -> None:
    with_an_environment(clone)
    program(clone / ".venv" / "bin" / "python", SAYS_ITS_ARGUMENTS)

    ended = make(clone, "test", "ARGS=tests/brain")

    assert ended.stdout.splitlines() == ["[-m]", "[pytest]", "[tests/brain]"]


def test_a_changed_project_file_installs_again_into_the_same_environment(clone: Path) -> None:
    with_an_environment(clone)
    program(clone / ".venv" / "bin" / "python", SAYS_ITS_ARGUMENTS)
    os.utime(clone / ".venv" / ".ready", (0, 0))

    ended = make(clone, "test")

    assert "[install]" in ended.stdout
    assert "Making" not in ended.stdout
