from __future__ import annotations

import pytest

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.demo import DemoProvider
from perdure.providers.stream import FinishPiece, TextPiece, UsagePiece
from tests.providers.serving import asking
from tests.providers.workspaces import ALL, LIST, READ, Workspace

NOTES = "# Weekly meeting\n\nThe seals were fitted the wrong way round. Priya opens three gauges on Thursday.\n"
BUDGET = "Budget of the year\n\nSpare parts will be over plan once the seals are ordered from the maker.\n"
TASK = "Summarise the files of this folder into SUMMARY.md"


def files(**more: str | bytes) -> dict[str, str | bytes]:
    return {"notes.md": NOTES, "budget.txt": BUDGET, **more}


async def test_a_summary_is_listed_read_proposed_written_and_reported() -> None:
    workspace = Workspace(files())
    answer = await workspace.turn(TASK)
    assert workspace.calls == [
        ("list_dir", "."),
        ("read_file", "budget.txt"),
        ("read_file", "notes.md"),
        ("write_file", "SUMMARY.md"),
    ]
    written = workspace.files["SUMMARY.md"]
    assert isinstance(written, str)
    assert "**Weekly meeting**" in written
    assert "Priya opens three gauges on Thursday." in written
    assert "rules instead of thinking" in written
    assert "SUMMARY.md" in answer.text
    assert "notes.md: " in answer.text
    assert answer.finish == "stop"


async def test_the_files_are_read_in_one_step() -> None:
    workspace = Workspace(files())
    await workspace.turn(TASK)
    steps = [len(message.calls) for message in workspace.messages if isinstance(message, AssistantMessage)]
    assert steps == [1, 2, 1, 0]


async def test_a_denied_write_is_said_with_its_reason_and_the_summary_comes_as_text() -> None:
    workspace = Workspace(files(), denied="not in this folder")
    answer = await workspace.turn(TASK)
    assert "was not allowed: not in this folder" in answer.text
    assert "Priya opens three gauges on Thursday." in answer.text
    assert "SUMMARY.md" not in workspace.files


@pytest.mark.parametrize(
    ("task", "path"),
    [
        ("Summarise the files of this folder into `docs/DIGEST.md`", "docs/DIGEST.md"),
        ("Write an overview of everything here to overview.txt", "overview.txt"),
        ("Please summarize this folder", "SUMMARY.md"),
    ],
)
async def test_the_summary_goes_into_the_file_that_the_task_names(task: str, path: str) -> None:
    workspace = Workspace(files())
    await workspace.turn(task)
    assert workspace.calls[-1] == ("write_file", path)


async def test_an_earlier_summary_is_no_source_of_the_next() -> None:
    workspace = Workspace(files(**{"SUMMARY.md": "Old words of an old summary stand here."}))
    await workspace.turn(TASK)
    assert ("read_file", "SUMMARY.md") not in workspace.calls
    assert "Old words" not in str(workspace.files["SUMMARY.md"])


async def test_an_empty_folder_is_said_to_be_empty_and_nothing_is_written() -> None:
    workspace = Workspace({})
    answer = await workspace.turn(TASK)
    assert "empty" in answer.text
    assert workspace.calls == [("list_dir", ".")]


async def test_binary_files_are_mentioned_and_not_summarised() -> None:
    workspace = Workspace(files(**{"photo.jpg": b"\xff\xd8", "dump.dat": b"\x00\x01"}))
    await workspace.turn(TASK)
    assert ("read_file", "photo.jpg") not in workspace.calls
    written = str(workspace.files["SUMMARY.md"])
    assert "- photo.jpg (2 bytes)" in written
    assert "dump.dat is a binary file" in written


async def test_a_folder_with_nothing_to_summarise_is_described() -> None:
    answer = await Workspace({"photo.jpg": b"\xff\xd8"}).turn(TASK)
    assert "photo.jpg" in answer.text


async def test_folders_inside_are_looked_into_but_not_without_end() -> None:
    deep = {f"{'/'.join('abcdefgh'[:depth])}/file.md": NOTES for depth in range(1, 9)}
    workspace = Workspace(files(**deep, **{".git/config.md": "x", "node_modules/a/b.md": "y"}))
    await workspace.turn(TASK)
    listed = [path for tool, path in workspace.calls if tool == "list_dir"]
    assert listed == [".", "a", "a/b"]
    assert ("read_file", "a/b/file.md") in workspace.calls


async def test_a_large_folder_is_read_in_part_and_the_rest_is_listed() -> None:
    workspace = Workspace({f"note-{number:03}.md": NOTES for number in range(200)})
    await workspace.turn(TASK)
    assert sum(tool == "read_file" for tool, _ in workspace.calls) == 12
    written = str(workspace.files["SUMMARY.md"])
    assert "200 files, 12 of them summarised" in written
    assert "- note-050.md" in written
    assert len(written) < 20_000


async def test_a_huge_result_makes_no_huge_summary() -> None:
    workspace = Workspace({"huge.txt": "One sentence about the sea and its gauges. " * 100_000})
    await workspace.turn(TASK)
    assert len(str(workspace.files["SUMMARY.md"])) < 5_000


async def test_one_named_file_is_summarised_without_a_look_around() -> None:
    workspace = Workspace(files())
    answer = await workspace.turn("Summarise notes.md")
    assert workspace.calls == [("read_file", "notes.md")]
    assert "Weekly meeting" in answer.text


async def test_a_question_is_answered_with_the_files_own_sentences() -> None:
    workspace = Workspace(files())
    answer = await workspace.turn("What happened to the seals?")
    assert "The seals were fitted the wrong way round." in answer.text
    assert "demo model" in answer.text
    assert not any(tool == "write_file" for tool, _ in workspace.calls)


async def test_a_missing_file_is_said_to_be_missing() -> None:
    answer = await Workspace(files()).turn("What does plan.md say about gauges?")
    assert "plan.md" in answer.text
    assert "There is no plan.md" in answer.text


async def test_a_greeting_is_answered_with_what_the_demo_is_and_how_to_get_a_real_model() -> None:
    workspace = Workspace(files())
    answer = await workspace.turn("Hello!")
    assert workspace.calls == []
    assert "demo model" in answer.text
    assert "OPENAI_API_KEY" in answer.text


async def test_without_tools_the_demo_says_what_it_is() -> None:
    assert "demo model" in (await Workspace(files()).turn(TASK, tools=())).text


async def test_without_a_tool_to_write_with_the_summary_is_the_answer() -> None:
    workspace = Workspace(files())
    answer = await workspace.turn(TASK, tools=(LIST, READ))
    assert "Priya opens three gauges on Thursday." in answer.text


@pytest.mark.parametrize("most_steps", [1, 2, 3])
async def test_a_forced_last_step_is_answered_with_what_there_is(most_steps: int) -> None:
    answer = await Workspace(files()).turn(TASK, most_steps=most_steps)
    assert answer.text
    assert not answer.calls
    if most_steps == 3:
        assert "Priya opens three gauges on Thursday." in answer.text


async def test_guidance_that_is_added_for_the_last_step_does_not_change_the_task() -> None:
    workspace = Workspace(files())
    workspace.say(TASK)
    await workspace.step(1, 1, ALL)
    await workspace.step(1, 2, ALL)
    workspace.say("This is the last step. Answer now without tools.")
    answer = await workspace.step(1, 3, ())
    assert "Priya opens three gauges on Thursday." in answer.text


async def test_a_further_message_begins_a_new_turn() -> None:
    workspace = Workspace(files())
    await workspace.turn(TASK)
    before = len(workspace.calls)
    answer = await workspace.turn("What happened to the seals?")
    assert workspace.calls[before] == ("list_dir", ".")
    assert "The seals were fitted the wrong way round." in answer.text


async def test_the_same_messages_give_the_same_step() -> None:
    first, second = Workspace(files()), Workspace(files())
    assert await first.turn(TASK) == await second.turn(TASK)
    assert first.messages == second.messages


async def test_the_answer_streams_in_small_pieces_with_usage_and_without_cost() -> None:
    pieces = [piece async for piece in DemoProvider(delay=0).stream(asking(model="demo:demo"))]
    texts = [piece.text for piece in pieces if isinstance(piece, TextPiece)]
    assert len(texts) > 10
    assert any(isinstance(piece, UsagePiece) and piece.usage.output_tokens for piece in pieces)
    assert pieces[-1] == FinishPiece("stop", "demo")


async def test_a_request_without_any_message_is_answered_too() -> None:
    assert [piece async for piece in DemoProvider(delay=0).stream(ModelRequest(model="demo:demo"))]
