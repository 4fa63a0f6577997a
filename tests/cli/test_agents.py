from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.programs import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "agents").mkdir()
    return Home(tmp_path, {})


def write(home: Home, name: str, text: str) -> Path:
    file = home.path / "agents" / name
    file.write_text(text)
    return file


def test_agents_are_listed_with_file_model_and_tools(home: Home) -> None:
    file = write(
        home,
        "clerk.md",
        "---\ndescription: Letters.\nmodel: demo:demo\ntools: [read_file]\npolicy: {read_file: ask}\n---\nWrite.\n",
    )

    told = home.run("agents")

    assert told.returncode == 0, told
    assert f"clerk  Letters.\n  file   {file}\n  model  demo:demo\n  tools  read_file; 1 policy rule\n" in told.stdout
    assert "  file   (built in)\n" in told.stdout
    assert str(home.path / "agents") in told.stderr


def test_a_warning_stands_with_its_place_and_the_agent_can_be_used(home: Home) -> None:
    file = write(home, "clerk.md", "---\ndescription: Writes.\n---\n")

    told = home.run("agents")

    assert told.returncode == 0
    assert f"  warning: {file}:3:1: The agent has no prompt" in told.stdout


def test_a_file_that_cannot_be_used_is_named_with_its_place_and_hides_no_other(home: Home) -> None:
    file = write(home, "broken.md", "---\nmodel: nonsense\n---\nWrite.\n")
    write(home, "clerk.md", "Write.\n")

    told = home.run("agents", "--json")

    assert told.returncode == 1
    records = [json.loads(line) for line in told.stdout.splitlines()]
    assert [(record["name"], record["usable"]) for record in records] == [
        ("assistant", True),
        ("broken", False),
        ("clerk", True),
    ]
    assert records[1]["file"] == str(file)
    (problem,) = records[1]["problems"]
    assert problem.startswith(f"error: {file}:2:8: model should be written provider:model")


def test_a_misspelt_policy_is_an_error_of_the_agent_and_it_cannot_be_run(home: Home) -> None:
    file = write(home, "typo.md", "---\npolcy: {write_file: deny}\n---\nWrite.\n")

    told = home.run("agents")
    ran = home.run("run", "task", "--agent", "typo", "--model", "demo:demo", "--yes")

    said = f"{file}:2:1: The key 'polcy' is unknown: did you mean 'policy'?"
    assert told.returncode == 1
    assert f"typo\n  file   {file}\n  error: {said}\n" in told.stdout
    assert ran.returncode == 2
    assert said in ran.stderr


def test_two_agents_of_one_name_are_both_shown_as_errors(home: Home) -> None:
    files = [write(home, "b10.md", "---\nname: clerk\n---\nOne.\n"), write(home, "clerk.md", "Other.\n")]

    told = home.run("agents")

    assert told.returncode == 1
    for file in files:
        assert f"  error: {file}:1:1: Two agents of this folder are named 'clerk'" in told.stdout


def test_an_agent_that_names_a_tool_that_is_not_served_cannot_be_used_without_it(home: Home) -> None:
    write(home, "smith.md", "---\ntools: [hammer]\n---\nForge.\n")
    (home.path / "tools.py").write_text('def hammer(what: str) -> str:\n    """Hammer something."""\n    return what\n')

    without = home.run("agents")
    given = home.run("agents", "--tools", "tools.py")

    assert without.returncode == 1
    assert "names the tool 'hammer'" in without.stdout
    assert given.returncode == 0, given


def test_an_agent_whose_model_lacks_a_tool_of_its_provider_cannot_be_used(home: Home) -> None:
    write(home, "seeker.md", "---\nmodel: deepseek:deepseek-chat\nhosted: [{tool: web_search}]\n---\nSeek.\n")
    write(home, "finder.md", "---\nmodel: anthropic:claude-sonnet-4-5\nhosted: [{tool: web_search}]\n---\nFind.\n")

    told = home.run("agents")

    assert told.returncode == 1
    assert "The model deepseek:deepseek-chat lacks web_search by its provider." in told.stdout
    assert told.stdout.count("error: ") == 1


def test_a_run_with_an_agent_that_is_not_there_names_the_command_that_lists_them(home: Home) -> None:
    told = home.run("run", "task", "--agent", "nobody", "--model", "demo:demo")

    assert told.returncode == 2
    assert "`perdure agents`" in told.stderr
