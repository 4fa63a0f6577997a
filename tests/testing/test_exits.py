from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

PASSING = "def test_it() -> None:\n    assert True\n"
FAILING = "def test_it() -> None:\n    assert False\n"


def run_pytest(project: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "conftest.py").write_text('pytest_plugins = ["perdure.testing.exits"]\n')
    (project / "test_it.py").write_text(source)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml=report.xml", *arguments],
        cwd=project,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("source", "status", "closing"),
    [
        (PASSING, 0, "1 passed"),
        (FAILING, 1, "1 failed"),
        ("def test_it() -> None:\n    raise KeyboardInterrupt\n", 2, "no tests ran"),
        ("", 5, "no tests ran"),
    ],
    ids=["passing", "failing", "interrupted", "empty"],
)
def test_the_exit_status_and_the_closing_line_are_those_of_pytest(
    tmp_path: Path, source: str, status: int, closing: str
) -> None:
    ended = run_pytest(tmp_path, source)

    assert ended.returncode == status
    assert closing in ended.stdout


def test_a_usage_error_keeps_its_status(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, PASSING, "no_such_file.py")

    assert ended.returncode == 4
    assert "no_such_file.py" in ended.stderr


@pytest.mark.parametrize(("source", "failures"), [(PASSING, "0"), (FAILING, "1")])
def test_the_report_file_is_whole(tmp_path: Path, source: str, failures: str) -> None:
    run_pytest(tmp_path, source)

    (suite,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert suite.attrib["tests"] == "1"
    assert suite.attrib["failures"] == failures


def test_functions_registered_with_atexit_run(tmp_path: Path) -> None:
    registers = "import atexit\nfrom pathlib import Path\n\natexit.register(Path('left').touch)\n\n\n"

    run_pytest(tmp_path, registers + PASSING)

    assert (tmp_path / "left").exists()


def test_a_thread_that_never_ends_does_not_hold_the_process(tmp_path: Path) -> None:
    waits = "import threading\n\nthreading.Thread(target=threading.Event().wait).start()\n\n\n"

    ended = run_pytest(tmp_path, waits + PASSING)

    assert ended.returncode == 0


def test_the_interpreter_is_not_torn_down(tmp_path: Path) -> None:
    crashes = (
        "import os\n\n\nclass Crashing:\n    def __del__(self, die=os._exit):\n        die(134)\n\n\n"
        "crashing = Crashing()\n\n\n"
    )

    ended = run_pytest(tmp_path, crashes + PASSING)

    assert ended.returncode == 0
