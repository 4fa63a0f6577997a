from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import perdure.contracts.errors as tree
from perdure.cli.exits import Code, explained
from perdure.contracts.errors import (
    CallerError,
    InvalidInputError,
    OperatorError,
    PerdureError,
    RunFailedError,
    ServerUnavailableError,
)
from perdure.contracts.failures import Failure

EVERY_ERROR = [kind for _, kind in inspect.getmembers(tree, inspect.isclass) if issubclass(kind, PerdureError)]


@pytest.mark.parametrize("kind", EVERY_ERROR)
def test_every_error_of_ours_has_its_exit_code(kind: type[PerdureError]) -> None:
    error = kind.__new__(kind)
    error.args = ("Something was wrong.",)

    code, sentence = explained(error)

    expected = Code.USAGE if issubclass(kind, CallerError) else Code.FAILED
    assert code == (Code.UNAVAILABLE if issubclass(kind, OperatorError) else expected)
    assert sentence.startswith("Something was wrong.")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (InvalidInputError("The task is empty."), 2, "The task is empty."),
        (RunFailedError("run-1", Failure(kind="quota", message="no\ncredit")), 1, "Run run-1 failed: no credit"),
        (click.UsageError("No such option: --x"), 2, "No such option: --x"),
        (click.UsageError("Choose from:\n\tbash,\n\tzsh"), 2, "Choose from: bash, zsh"),
        (click.exceptions.Abort(), 130, "interrupted"),
    ],
)
def test_an_error_becomes_one_line(error: Exception, code: int, sentence: str) -> None:
    assert explained(error) == (code, sentence)


def test_a_missing_server_says_what_to_do() -> None:
    code, sentence = explained(ServerUnavailableError("localhost:7233"))

    assert code == 3
    assert "PERDURE_ADDRESS" in sentence


def failing(tmp_path: Path, raised: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = f"from perdure.cli.exits import guarded, leave\ndef work(): {raised}\nleave(guarded(work))"
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_what_nobody_foresaw_is_one_line_and_its_details_are_in_a_file(tmp_path: Path) -> None:
    ended = failing(tmp_path, "raise KeyError('surprise')")

    assert ended.returncode == 1
    assert ended.stderr.startswith("error: unexpected KeyError: 'surprise' (details: ")
    assert ended.stderr.count("\n") == 1
    (details,) = tmp_path.rglob("last-error.log")
    assert str(details) in ended.stderr
    assert "Traceback" in details.read_text()


def test_details_hold_no_secret(tmp_path: Path) -> None:
    failing(tmp_path, "raise KeyError('Authorization: Bearer abcdefgh12345678')")

    (details,) = tmp_path.rglob("last-error.log")
    assert "abcdefgh12345678" not in details.read_text()


def test_details_are_shown_when_they_are_asked_for(tmp_path: Path) -> None:
    ended = failing(tmp_path, "raise KeyError('surprise')", PERDURE_DEBUG="1")

    assert "Traceback" in ended.stderr


def test_details_that_cannot_be_written_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    ended = failing(file, "raise KeyError('surprise')")

    assert ended.returncode == 1
    assert "PERDURE_DEBUG=1 shows the details" in ended.stderr


@pytest.mark.parametrize(
    "work",
    [
        "[print('x' * 999) for _ in range(9999)] and 0",
        "[screen.write([Span('x' * 999)]) for _ in range(9999)] and 0",
    ],
)
def test_a_reader_that_has_seen_enough_ends_the_program_without_a_word(work: str) -> None:
    program = (
        "from perdure.cli.exits import guarded, leave\n"
        "from perdure.cli.lines import Span\nfrom perdure.cli.screen import Screen\n"
        f"screen = Screen()\nleave(guarded(lambda: {work}))"
    )
    reader, writer = os.pipe()
    os.close(reader)

    ended = subprocess.run(
        [sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(writer)

    assert (ended.returncode, ended.stderr) == (Code.UNREAD, "")


def test_ctrl_c_before_anything_was_started_is_said_in_one_word(tmp_path: Path) -> None:
    ended = failing(tmp_path, "raise KeyboardInterrupt")

    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        ("import asyncio; raise asyncio.CancelledError", 3, "The connection to the Temporal server"),
        ("raise SystemExit(7)", 1, "unexpected SystemExit: 7"),
        ("raise GeneratorExit", 1, "unexpected GeneratorExit"),
        ("raise BaseExceptionGroup('several', [KeyError(1), GeneratorExit()])", 1, "unexpected BaseExceptionGroup"),
        ("raise OSError(28, 'No space left on device')", 1, "The output cannot be written: No space left on device."),
    ],
)
def test_whatever_is_raised_becomes_one_line(tmp_path: Path, raised: str, code: int, words: str) -> None:
    ended = failing(tmp_path, raised)

    assert ended.returncode == code, ended
    assert ended.stderr.startswith(f"error: {words}")
    assert ended.stderr.count("\n") == 1
