from __future__ import annotations

import json
import re
from pathlib import Path

from perdure.testing.script import asks, asks_badly, fails, held, says, together
from tests.cli.conftest import Play
from tests.cli.model_server import CALLS_THE_TOOL, ONLY_TALKS, model_server
from tests.cli.programs import Home


def local(url: str) -> dict[str, str]:
    """Settings in which the server at ``url`` is the machine's Ollama."""
    return {"PERDURE_PROVIDERS": json.dumps({"ollama": {"base_url": url, "dialect": "ollama"}})}


def test_a_model_that_calls_the_tool_passes_and_it_is_said_what_worked(alone: Home, play: Play) -> None:
    told = alone.run("models", "check", play(together(says("I ", "look."), asks("list_dir", path="."))))

    lines = told.stdout.splitlines()
    assert told.returncode == 0, told
    assert lines[0].startswith("model     scripted:")
    assert re.fullmatch(r"answers   first piece after [\d.]+ s, all after [\d.]+ s", lines[1])
    assert lines[2:5] == ["streams   3 pieces", "text      I look.", 'tool      called list_dir {"path": "."}']
    assert lines[5] == "usage     10 in, 5 out; $0.00"


def test_the_default_model_is_checked_when_none_is_named(alone: Home) -> None:
    told = alone.run("models", "check")

    assert told.returncode == 0, told
    assert "model     demo:demo (no key is set" in told.stdout
    assert 'tool      called list_dir {"path": "."}' in told.stdout


def test_a_server_of_this_machine_is_checked_over_its_wire(alone: Home) -> None:
    with model_server(CALLS_THE_TOOL) as url:
        listed = alone.run("models", **local(url))
        told = alone.run("models", "check", **local(url))

    assert "default  ollama:small (ollama answers at " in listed.stdout
    assert told.returncode == 0, told
    assert told.stdout.startswith("model     ollama:small (ollama answers at ")
    assert 'tool      called list_dir {"path": "."}' in told.stdout
    assert "usage     10 in, 4 out" in told.stdout


def test_a_model_that_only_talks_is_told_apart(alone: Home) -> None:
    with model_server(ONLY_TALKS) as url:
        told = alone.run("models", "check", "ollama:small", **local(url))

    assert told.returncode == 1
    assert "streams   the answer came in one piece" in told.stdout
    assert "tool      not called (finished: stop)" in told.stdout
    assert "agents with tools need one that calls them" in told.stderr


def test_arguments_that_are_no_json_are_told_apart(alone: Home, play: Play) -> None:
    told = alone.run("models", "check", play(asks_badly("list_dir", '{"path"')))

    assert told.returncode == 1
    assert 'tool      called with arguments that are no JSON: list_dir {"path"' in told.stdout


def test_a_call_of_another_tool_is_told_apart(alone: Home, play: Play) -> None:
    told = alone.run("models", "check", play(asks("read_file", path=".")))

    assert told.returncode == 1
    assert 'tool      called another than list_dir: read_file {"path": "."}' in told.stdout


def test_a_provider_that_fails_is_one_line(alone: Home, play: Play) -> None:
    told = alone.run("models", "check", play(fails("authentication", detail="the key is not valid")))

    assert told.returncode == 1
    assert "the key is not valid" in told.stderr
    assert told.stderr.endswith(". `perdure models` shows the addresses and keys of providers.\n")
    assert "Traceback" not in told.stderr


def test_a_model_that_never_ends_is_given_up(alone: Home, play: Play, tmp_path: Path) -> None:
    told = alone.run(
        "models", "check", play(held(says("Once", "upon"), tmp_path / "gate", after=1)), "--within", "300ms"
    )

    assert told.returncode == 1
    assert "no whole answer within 0.3 s" in told.stderr
