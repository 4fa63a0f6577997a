from __future__ import annotations

from io import StringIO

import pytest

from perdure.cli.screen import Screen
from perdure.cli.table import show_table
from tests.cli.test_screen import FakeTerminal

TITLES = ("RUN", "STATUS", "AWAITS")
LONG = "r" * 255


def shown(out: StringIO, *rows: tuple[str, str, str]) -> list[str]:
    """The lines of the table on that output."""
    show_table(Screen(out, StringIO()), TITLES, rows, folded=("AWAITS",))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "dumb")


def test_what_fits_is_shown_in_columns() -> None:
    lines = shown(FakeTerminal(), ("run-1", "waiting", "t1s1c1 write"), ("run-22", "idle", ""))

    assert lines == ["RUN     STATUS   AWAITS", "run-1   waiting  t1s1c1 write", "run-22  idle"]


def test_a_cell_that_may_is_folded() -> None:
    lines = shown(FakeTerminal(), ("run-1", "waiting", "t1s1c1 write_file, t1s1c2 write_file"))

    assert [line[:5].strip() for line in lines] == ["RUN", "run-1", ""]
    assert max(map(len, lines)) <= 40


def test_no_word_of_a_cell_is_broken() -> None:
    lines = shown(FakeTerminal(), ("run-1", "waiting", "accounts/fireworks/models/gpt x"))

    assert lines == ["run-1", "  status  waiting", "  awaits  accounts/fireworks/models/gpt x"]


@pytest.mark.parametrize("columns", ["1", "25", "40"])
def test_where_columns_do_not_fit_nothing_is_cut_or_dropped(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    lines = shown(FakeTerminal(), (LONG, "waiting_approval", "t1s1c1 write_file"), ("run-1", "idle", ""))

    assert lines == [LONG, "  status  waiting_approval", "  awaits  t1s1c1 write_file", "run-1", "  status  idle"]


def test_a_pipe_gets_a_line_for_each_row_however_long() -> None:
    lines = shown(StringIO(), (LONG, "waiting", "t1s1c1 write_file " * 16), ("run\x1b[31m", "idle", ""))

    assert len(lines) == 3
    assert lines[1].startswith(LONG)
    assert lines[2].startswith("run\\x1b[31m ")
