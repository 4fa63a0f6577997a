from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO
from typing import get_args

import pytest

from perdure.cli.commands.ls import STATUSES
from perdure.cli.listing import Row, named, query_of, table
from perdure.cli.screen import console
from perdure.contracts.state import RunStatus
from tests.cli.happenings import asked, question


@pytest.mark.parametrize(
    ("status", "query"),
    [
        (None, ""),
        ("completed", "ExecutionStatus = 'Completed'"),
        ("canceled", "ExecutionStatus = 'Canceled'"),
        ("failed", "ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')"),
        ("idle", "ExecutionStatus = 'Running' AND PerdureStatus = 'idle'"),
        ("running", "ExecutionStatus = 'Running' AND PerdureStatus = 'running'"),
    ],
)
def test_a_status_is_asked_for_in_the_words_of_the_server(status: str | None, query: str) -> None:
    assert query_of(status) == query


def test_waiting_means_everything_that_waits() -> None:
    assert "'waiting_approval', 'waiting_answer'" in query_of("waiting")


def test_what_a_run_awaits_is_said_in_a_few_words() -> None:
    assert named(asked("t1s1c1", "write_file")) == "t1s1c1 write_file"
    assert named(question("t1s1c2", "Which\none?")) == "t1s1c2 Which one?"


def test_runs_are_listed_in_columns_and_never_cut_in_a_pipe() -> None:
    started = datetime(2024, 5, 14, 12, 0, tzinfo=UTC)
    rows = [
        Row(run_id="r" * 60, status="waiting_approval", agent="assistant", started_at=started, awaits="t1s1c1 x"),
        Row(run_id="short\x1b[31m", status="completed", started_at=started),
    ]
    target = StringIO()

    console(target).print(table(rows))

    header, first, second = target.getvalue().rstrip("\n").split("\n")
    assert header.split() == ["RUN", "STATUS", "AGENT", "STARTED", "AWAITS"]
    assert first.split()[0] == "r" * 60
    assert first.rstrip().endswith("t1s1c1 x")
    assert "\x1b" not in second


def test_every_status_can_be_asked_for() -> None:
    assert set(STATUSES) == {"waiting", *get_args(RunStatus)}
