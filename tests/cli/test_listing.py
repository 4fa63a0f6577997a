from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest

from perdure.cli.commands.ls import STATUSES
from perdure.cli.listing import TITLES, Row, cells, named, query_of
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


def test_a_run_is_listed_with_what_it_awaits() -> None:
    started = datetime(2024, 5, 14, 12, 0, tzinfo=UTC)
    row = Row(run_id="run-1", status="waiting_approval", agent="clerk", started_at=started, awaits="t1s1c1 x")

    assert len(cells(row)) == len(TITLES)
    assert cells(row)[:3] == ("run-1", "waiting_approval", "clerk")
    assert cells(row)[-1] == "t1s1c1 x"


def test_every_status_can_be_asked_for() -> None:
    assert set(STATUSES) == {"waiting", *get_args(RunStatus)}
