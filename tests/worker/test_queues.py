from __future__ import annotations

import os
from pathlib import Path

import pytest

from perdure.worker.queues import brings_tools, own_queue


def test_a_run_without_tools_of_its_own_is_on_the_common_queue() -> None:
    assert own_queue("perdure", ()) == "perdure"
    assert not brings_tools("perdure")


def test_the_same_tools_have_the_same_queue_however_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "due.py"
    monkeypatch.chdir(tmp_path)

    queue = own_queue("perdure", ("due.py", "json:loads"))

    assert queue == own_queue("perdure", ("json:loads", str(file)))
    assert queue == own_queue("perdure", (os.path.join(".", "due.py"), "json:loads", "due.py"))
    assert queue.startswith("perdure.tools-")
    assert brings_tools(queue)


@pytest.mark.parametrize("other", [("due.py:days",), ("more.py",), ("due.py", "more.py"), ("due:days",)])
def test_other_tools_have_another_queue(other: tuple[str, ...]) -> None:
    assert own_queue("perdure", other) != own_queue("perdure", ("due.py",))
