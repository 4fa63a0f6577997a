"""Recorded histories of every release replay on the current code, and project to the same end."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from perdure.brain.ending import ended
from perdure.client.projection import Projection
from perdure.worker.converter import data_converter
from perdure.worker.worker import sandbox
from perdure.workflows.run import AgentRun
from tests.replay.record import HISTORIES, SCENES

RECORDED = sorted(HISTORIES.glob("*/*.json"))


def recorded(file: Path) -> WorkflowHistory:
    """A recorded history."""
    return WorkflowHistory.from_json(file.stem, file.read_text())


def name(file: Path) -> str:
    """A recorded history's name in a report."""
    return f"{file.parent.name}-{file.stem}"


@pytest.mark.parametrize("file", RECORDED, ids=name)
async def test_a_recorded_history_replays(file: Path) -> None:
    history = recorded(file)
    replayer = Replayer(workflows=[AgentRun], data_converter=data_converter(), workflow_runner=sandbox())
    result = await replayer.replay_workflow(history)
    assert result.replay_failure is None


@pytest.mark.parametrize("file", RECORDED, ids=name)
async def test_a_recorded_history_projects_to_an_ended_run(file: Path) -> None:
    history = recorded(file)
    projection = Projection(file.stem, "recorded", data_converter())
    told = await projection.take(history.events)
    assert projection.state is not None
    assert ended(projection.state)
    assert told[-1].kind == "run_closed"


async def test_a_run_of_an_earlier_release_keeps_its_rules() -> None:
    """The histories of 0.1.0 name no version: theirs is the first, whatever this release begins with."""
    file = HISTORIES / "0.1.0" / "plain.json"
    projection = Projection(file.stem, "recorded", data_converter())
    await projection.take(recorded(file).events)
    assert projection.state is not None
    assert projection.state.rules_version == 1


def test_every_scene_is_recorded_for_some_release() -> None:
    assert {file.stem for file in RECORDED} >= {scene.__name__ for scene in SCENES}


async def test_a_changed_workflow_does_not_replay() -> None:
    """The replay tests can fail: a history that lost an activity is refused."""
    file = HISTORIES / RECORDED[0].parent.name / "plain.json"
    history = recorded(file)
    scheduled = [event for event in history.events if event.HasField("activity_task_scheduled_event_attributes")]
    scheduled[0].activity_task_scheduled_event_attributes.activity_type.name = "another_activity"
    replayer = Replayer(workflows=[AgentRun], data_converter=data_converter(), workflow_runner=sandbox())
    result = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    assert result.replay_failure is not None
