from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.source import ROOT, plain_environment

CLOSING = "=========== 3 passed, 1 warning in 75.21s (0:01:15) ==========="
BROKEN = "=========== 1 failed, 2 passed in 2.10s ==========="
TOOLS = ("bash", "sh", "dirname", "env", "grep", "id", "mktemp", "rm", "sed", "seq", "sleep", "tail", "tee", "timeout")


class Machine:
    """A bare machine: a clone whose `make` does what a test writes, and a PATH with a few programs."""

    def __init__(self, folder: Path) -> None:
        self.clone = folder / "clone"
        self.programs = folder / "programs"
        (self.clone / ".ci").mkdir(parents=True)
        self.programs.mkdir()
        shutil.copy(ROOT / ".ci" / "run", self.clone / ".ci" / "run")
        for tool in TOOLS:
            self.link(tool)
        self.program("python3", "exit 0")
        self.log = folder / "log"

    def link(self, tool: str) -> None:
        found = shutil.which(tool)
        assert found is not None
        (self.programs / tool).symlink_to(found)

    def program(self, name: str, script: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def make(self, *, check: str, test: str) -> None:
        self.program("make", f'case "$1" in\ncheck) {check} ;;\ntest) {test} ;;\nesac')

    def ci(self, **settings: str) -> tuple[int, list[str]]:
        environment = plain_environment() | {"PATH": str(self.programs), "HOME": str(self.clone)} | settings
        # A file and not a pipe: reading would wait for every process that a test left behind.
        with self.log.open("w") as log:
            ended = subprocess.run(
                [self.clone / ".ci" / "run"], env=environment, stdout=log, stderr=log, cwd="/", timeout=60
            )
        return ended.returncode, self.log.read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_all_well_ends_with_the_closing_line_and_zero(machine: Machine) -> None:
    machine.make(check="echo checked", test=f"echo '{CLOSING}'; echo 'a late word'")

    status, lines = machine.ci()

    assert status == 0
    assert lines[0] == "checked"
    assert lines[-2:] == ["a late word", CLOSING]


def test_a_failed_test_ends_with_the_closing_line_and_its_status(machine: Machine) -> None:
    machine.make(check="exit 0", test=f"echo '{BROKEN}'; exit 2")

    status, lines = machine.ci()

    assert status == 2
    assert lines[-1] == BROKEN


def test_a_failed_check_still_runs_the_tests_and_fails(machine: Machine) -> None:
    machine.make(check="exit 2", test=f"echo '{CLOSING}'")

    status, lines = machine.ci()

    assert status == 2
    assert lines == ["make check ended with status 2.", CLOSING, CLOSING]


def test_tests_that_never_ran_are_said_to_have_no_closing_line(machine: Machine) -> None:
    machine.make(check="exit 0", test="echo 'no module named pytest'; exit 2")

    status, lines = machine.ci()

    assert status == 2
    assert lines[-1] == "make test ended with status 2, without a closing line of pytest."


def test_colours_are_taken_off_the_closing_line(machine: Machine) -> None:
    machine.make(check="exit 0", test=r"printf '\033[32m=== \033[1m3 passed\033[0m in 0.10s ===\033[0m\n'")

    _, lines = machine.ci()

    assert lines[-1] == "=== 3 passed in 0.10s ==="


def test_a_process_that_a_test_left_behind_does_not_hold_it(machine: Machine) -> None:
    pid = machine.clone / "pid"
    machine.make(check="exit 0", test=f"sleep 300 & echo $! >{pid}; echo '{CLOSING}'")

    try:
        status, lines = machine.ci()
    finally:
        os.kill(int(pid.read_text()), 9)

    assert status == 0
    assert lines[-1] == CLOSING


def test_it_ends_when_its_time_is_over(machine: Machine) -> None:
    machine.make(check="exit 0", test="sleep 300")

    status, lines = machine.ci(LIMIT="1")

    assert status == 124
    assert "Not done within 1 seconds." in lines


def test_nothing_can_be_read_and_ci_is_said(machine: Machine) -> None:
    machine.make(check="read -r line || echo nothing to read", test='echo "CI=$CI"')

    _, lines = machine.ci()

    assert lines[:2] == ["nothing to read", "CI=true"]


def test_a_missing_make_is_installed(machine: Machine) -> None:
    making = machine.programs / "make"
    machine.link("chmod")
    script = f'#!/bin/sh\\necho "{CLOSING}"\\n'
    machine.program("apt-get", f"[ \"$1\" = update ] || {{ printf '{script}' >{making}; chmod 755 {making}; }}")
    machine.program("sudo", 'shift; exec "$@"')

    status, lines = machine.ci()

    assert status == 0
    assert lines[-1] == CLOSING


def test_without_make_and_a_way_to_get_it_the_error_says_what_to_do(machine: Machine) -> None:
    machine.program("apt-get", "exit 100")
    machine.program("sudo", 'shift; exec "$@"')

    status, lines = machine.ci()

    assert status == 2
    assert lines == ["make is missing and apt-get could not install it: install make and run this again."]
