from __future__ import annotations

from pathlib import Path

import pytest

from perdure.agents.shelf import AgentShelf
from perdure.contracts.errors import AgentFileError, UnknownAgentError
from perdure.contracts.names import DEFAULT_AGENT


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("near", "far"):
        (tmp_path / name).mkdir()
    return tmp_path / "near", tmp_path / "far"


def test_there_is_a_built_in_agent_that_may_use_every_tool(tmp_path: Path) -> None:
    shelf = AgentShelf([tmp_path / "none"])
    agent = shelf.get(DEFAULT_AGENT)

    assert shelf.names() == (DEFAULT_AGENT,)
    assert shelf.problems == ()
    assert (agent.name, agent.tools, agent.policy) == (DEFAULT_AGENT, None, ())
    assert len(agent.prompt) > 200


def test_every_markdown_file_of_every_folder_is_an_agent_but_a_readme(folders: tuple[Path, Path]) -> None:
    near, far = folders
    (near / "anna.md").write_text("I am Anna.")
    (near / "README.md").write_text("About these agents.")
    (near / "notes.txt").write_text("No agent.")
    (far / "b.md").write_text("---\nname: berta\n---\nI am Berta.")
    shelf = AgentShelf(folders)

    assert shelf.names() == ("anna", "assistant", "berta")
    assert shelf.get("berta").prompt == "I am Berta."


def test_a_file_replaces_the_built_in_agent(folders: tuple[Path, Path]) -> None:
    (folders[0] / "assistant.md").write_text("Mine.")

    assert AgentShelf(folders).get(DEFAULT_AGENT).prompt == "Mine."


def test_of_two_agents_of_one_name_the_earlier_folder_counts_and_the_other_is_a_problem(
    folders: tuple[Path, Path],
) -> None:
    near, far = folders
    (near / "anna.md").write_text("Near.")
    (far / "anna.md").write_text("Far.")
    shelf = AgentShelf(folders)

    assert shelf.get("anna").prompt == "Near."
    (problem,) = shelf.problems
    assert problem.file == far / "anna.md"
    assert str(near / "anna.md") in problem.message


def test_a_bad_file_is_a_problem_and_the_other_agents_still_load(folders: tuple[Path, Path]) -> None:
    near, _ = folders
    (near / "bad.md").write_text("---\nmodel: 3\n---\n")
    (near / "good.md").write_text("---\nname: good\n---\n")
    shelf = AgentShelf(folders)

    assert shelf.names() == ("assistant", "good")
    assert [(problem.file.name, problem.line, problem.severity) for problem in shelf.problems] == [
        ("bad.md", 2, "error"),
        ("good.md", 3, "warning"),
    ]


def test_two_agents_of_one_name_in_one_folder_are_both_named_and_neither_is_used(folders: tuple[Path, Path]) -> None:
    near, far = folders
    for file, text in ((near / "b10.md", "---\nname: clerk\n---\nOne."), (near / "clerk.md", "Other.")):
        file.write_text(text)
    (far / "clerk.md").write_text("Far.")
    shelf = AgentShelf(folders)

    assert shelf.names() == ("assistant",)
    assert [(problem.file, problem.severity) for problem in shelf.problems] == [
        (near / "b10.md", "error"),
        (near / "clerk.md", "error"),
        (far / "clerk.md", "warning"),
    ]
    with pytest.raises(AgentFileError, match=r"Two agents of this folder are named 'clerk'.*clerk\.md"):
        shelf.get("clerk")


def test_asking_for_an_agent_whose_file_is_bad_says_what_is_wrong_with_it(folders: tuple[Path, Path]) -> None:
    (folders[0] / "bad.md").write_text("---\nmodel: 3\n---\n")

    with pytest.raises(AgentFileError, match=r"bad\.md:2:8: model should be a valid string"):
        AgentShelf(folders).get("bad")


def test_no_other_agent_stands_in_for_one_whose_file_is_bad(folders: tuple[Path, Path]) -> None:
    near, far = folders
    for name in ("anna", DEFAULT_AGENT):
        (near / f"{name}.md").write_text("---\ntools:\n---\n")
        (far / f"{name}.md").write_text("May do anything.")

        with pytest.raises(AgentFileError):
            AgentShelf(folders).get(name)


def test_no_other_agent_stands_in_for_the_one_that_a_bad_file_names(folders: tuple[Path, Path]) -> None:
    (folders[0] / "x.md").write_text("---\nname: anna\npolcy: {write_file: deny}\n---\nCareful.")
    (folders[1] / "anna.md").write_text("May do anything.")

    with pytest.raises(AgentFileError, match="'polcy' is unknown"):
        AgentShelf(folders).get("anna")


def test_an_unknown_agent_is_answered_with_the_known_ones(folders: tuple[Path, Path]) -> None:
    (folders[0] / "anna.md").write_text("I am Anna.")

    with pytest.raises(UnknownAgentError, match=r"'ana'.*Known agents: anna, assistant"):
        AgentShelf(folders).get("ana")


def test_an_edited_file_counts_from_the_next_question_on(folders: tuple[Path, Path]) -> None:
    shelf = AgentShelf(folders)
    (folders[0] / "anna.md").write_text("First.")
    first = shelf.get("anna")
    (folders[0] / "anna.md").write_text("Second.")

    assert (first.prompt, shelf.get("anna").prompt) == ("First.", "Second.")
