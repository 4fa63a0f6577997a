from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "testing.md"
BLOCK = re.compile(r"<!-- (\S+\.(?:py|md)) -->\n```\w+\n(.*?)```", re.DOTALL)

FAILING = """
from perdure.testing.script import says, script

def test_it(run_agent):
    run_agent("Hello", script(says("Good day.")))
    assert False
"""
SHORT = """
from perdure.testing.script import asks, script

def test_it(run_agent):
    run_agent("Hello", script(asks("fly")))
"""
SAVED = """
from perdure.providers.scripted import Script
from perdure.testing.script import asks, says

def test_it(perdure_script):
    one, other = perdure_script(asks("look"), says("Done.")), perdure_script(says("Other."))
    assert one != other
    assert len(Script.load(one.removeprefix("scripted:")).replies) == 2
"""
ASYNCHRONOUS = """
import asyncio
from perdure.testing.script import says, script

def test_it(run_agent):
    async def main():
        return run_agent("Hello", script(says("Good day.")))
    assert asyncio.run(main()).output.output == "Good day."
"""


def pytest_on(project: Path, **files: str) -> subprocess.CompletedProcess[str]:
    (project / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\nasyncio_default_fixture_loop_scope = function\n"
    )
    (project / "conftest.py").write_text('pytest_plugins = ["perdure.testing.plugin"]\n')
    for name, source in files.items():
        (project / f"{name}.py").write_text(source)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=project,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_example_of_the_document_passes(tmp_path: Path) -> None:
    blocks = dict(BLOCK.findall(DOCUMENT.read_text(encoding="utf-8")))
    assert set(blocks) == {"conftest.py", "test_notes.py", "secretary.md", "test_secretary.py"}
    (tmp_path / "secretary.md").write_text(blocks.pop("secretary.md"))

    ended = pytest_on(tmp_path, **{name.removesuffix(".py"): source for name, source in blocks.items()})

    assert ended.returncode == 0, ended.stdout
    assert "5 passed" in ended.stdout


def test_a_failing_test_shows_the_transcripts_of_its_runs(tmp_path: Path) -> None:
    ended = pytest_on(tmp_path, test_it=FAILING)

    assert ended.returncode == 1
    assert "transcript of run 1 (completed)" in ended.stdout
    assert "t1s1 assistant says: Good day." in ended.stdout


def test_a_test_whose_script_ran_out_fails_though_it_asserts_nothing(tmp_path: Path) -> None:
    ended = pytest_on(tmp_path, test_it=SHORT)

    assert ended.returncode == 1
    assert "the model was asked for reply 2, and the script has 1" in ended.stdout


def test_scripts_are_saved_each_under_a_name_of_its_own_and_async_code_may_run_agents_too(tmp_path: Path) -> None:
    ended = pytest_on(tmp_path, test_saved=SAVED, test_asynchronous=ASYNCHRONOUS)

    assert ended.returncode == 0, ended.stdout
