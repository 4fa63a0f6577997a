from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from perdure.worker.queues import RULES, own_queue
from perdure.worker.settings import Settings

OF_THE_PROCESS = {
    *("address", "namespace", "task_queue", "api_key", "tls", "tls_ca", "tls_cert", "tls_key", "connect_timeout"),
    *("ui_url", "port", "ui_port", "ui", "data_dir", "start_timeout", "retention"),
    *("provider_connect_timeout", "provider_read_timeout", "notify_secret", "notify_timeout", "model_hook_timeout"),
    *("heartbeat_timeout", "heartbeat_throttle", "model_deadline", "model_attempts", "tool_attempts"),
    *("concurrent_activities", "concurrent_workflow_tasks", "cached_runs", "transcript_cache", "shutdown_grace"),
    *("log_level", "log_format", "log_file"),
}
OF_THE_RUN = {"model", "workspace"}
"""Those are named by the run itself."""


def queue(**settings: Any) -> str:
    return own_queue(Settings(**settings))


def test_every_setting_is_known_to_change_the_rules_of_runs_or_not_to() -> None:
    counted = RULES | {"tools", "agents"}

    assert counted | OF_THE_PROCESS | OF_THE_RUN == set(Settings.model_fields)
    assert not counted & (OF_THE_PROCESS | OF_THE_RUN)


def test_the_same_rules_have_the_same_queue_below_the_one_of_the_settings() -> None:
    assert queue(model="demo:demo", port=7300) == queue(workspace=Path("/"), log_level="debug")
    assert queue(task_queue="sales").startswith("sales.")


def test_the_same_tools_have_the_same_queue_however_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "due.py"
    monkeypatch.chdir(tmp_path)

    named = queue(tools=("due.py", "json:loads"))

    assert named == queue(tools=("json:loads", str(file)))
    assert named == queue(tools=(os.path.join(".", "due.py"), "json:loads", "due.py"))


@pytest.mark.parametrize("other", [("due.py:days",), ("more.py",), ("due.py", "more.py"), ("due:days",)])
def test_other_tools_have_another_queue(other: tuple[str, ...]) -> None:
    assert queue(tools=other) != queue(tools=("due.py",))


@pytest.mark.parametrize(
    "rules",
    [
        {"policy": {"write_file": "deny"}},
        {"before_model_call": ["house.py:budget"]},
        {"notify_command": ["notify-send"]},
        {"fallbacks": ["openai:gpt-5"]},
        {"providers": {"openai": {"base_url": "https://proxy.example/v1"}}},
        {"step_limit": 3},
    ],
)
def test_other_rules_have_another_queue(rules: dict[str, Any]) -> None:
    assert queue(**rules) != queue()


def test_a_folder_with_agents_has_a_queue_of_its_own(tmp_path: Path) -> None:
    nowhere = queue(agents=(tmp_path / "agents",))
    (tmp_path / "agents").mkdir()

    assert nowhere == queue(agents=())
    assert queue(agents=(tmp_path / "agents",)) != nowhere
