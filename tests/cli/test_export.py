from __future__ import annotations

import json

from perdure.testing.script import asks, says
from tests.cli.conftest import Left, Play, Untaken
from tests.cli.programs import Home
from tests.cli.test_start import failed
from tests.servers import unique

WRITE = asks("write_file", path="out.txt", content="text")


def test_a_run_that_has_ended_is_exported_whole_without_a_worker(home: Home, play: Play) -> None:
    run_id = unique("run")
    ended = home.run("run", "Grüße", "--model", play(WRITE, says("Done.")), "--run-id", run_id, "--yes", "--json")
    assert ended.returncode == 0
    durable = [event for event in map(json.loads, ended.stdout.splitlines()) if event["position"]]

    lines = [json.loads(line) for line in home.run("export", run_id).stdout.splitlines()]
    whole = json.loads(home.run("export", run_id, "--format", "json").stdout)

    assert lines[0]["run"]["status"] == "completed"
    assert "messages" not in lines[0]["run"]
    assert [line["message"]["role"] for line in lines if "message" in line] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [line["event"] for line in lines if "event" in line] == durable
    assert whole == {
        "run": lines[0]["run"],
        "messages": [line["message"] for line in lines if "message" in line],
        "events": durable,
    }
    assert "Grüße" in home.run("export", run_id).stdout


def test_a_run_that_goes_on_is_exported_as_it_stands(home: Home, left: Left) -> None:
    run_id = left(WRITE, says("Done."))

    whole = json.loads(home.run("export", run_id, "--format", "json").stdout)

    assert whole["run"]["status"] == "waiting_approval"
    assert whole["events"][-1]["kind"] in ("request_opened", "status_changed")


def test_a_run_that_has_not_begun_has_nothing_to_export(home: Home, untaken: Untaken) -> None:
    failed(home.run("export", untaken()), 3, "has not begun", "perdure worker")
