from __future__ import annotations

import os
from pathlib import Path

from perdure.activities.builtin.folders import MOST_ENTRIES, list_dir
from perdure.activities.functions import tool_from
from perdure.activities.results import SHOWN_BYTES
from perdure.contracts.tools import ToolOutput
from tests.activities.calling import called


def test_it_declares_that_it_reads_a_path() -> None:
    spec = tool_from(list_dir).spec

    assert (spec.effect, spec.idempotent, spec.path_arguments) == ("read", True, ("path",))
    assert "required" not in spec.parameters


async def test_a_folder_is_listed_by_name_with_sizes_and_marks(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "c.txt").write_text("x" * 1234)
    (tmp_path / "a.md").touch()
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "link").symlink_to("gone")
    (tmp_path / "d\nd").touch()

    output = await called(list_dir, tmp_path)

    assert output.text.splitlines() == [
        ".hidden (1 bytes)",
        "a.md (0 bytes)",
        "b/",
        "c.txt (1,234 bytes)",
        "'d\\nd' (0 bytes)",
        "link -> gone",
    ]


async def test_a_folder_in_the_folder_can_be_listed(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)

    assert (await called(list_dir, tmp_path, path="b")).text == "c/"


async def test_an_empty_folder_is_said_to_be_empty(tmp_path: Path) -> None:
    assert (await called(list_dir, tmp_path)).text == "[. is an empty folder.]"


async def test_a_long_list_is_cut_and_says_by_how_much(tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES + 7):
        (tmp_path / f"{number:04}").touch()

    lines = (await called(list_dir, tmp_path)).text.splitlines()

    assert lines[0] == "0000 (0 bytes)"
    assert lines[MOST_ENTRIES - 1] == f"{MOST_ENTRIES - 1:04} (0 bytes)"
    assert lines[-1] == f"[7 of {MOST_ENTRIES + 7} entries are left out.]"
    assert len(lines) == MOST_ENTRIES + 1


async def test_long_names_are_cut_by_size(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number:04}{'x' * 240}").touch()

    text = (await called(list_dir, tmp_path)).text

    assert SHOWN_BYTES - 300 < len(text.encode()) < SHOWN_BYTES + 100
    assert text.endswith("of 300 entries are left out.]")


async def test_a_name_that_is_no_utf8_is_listed(tmp_path: Path) -> None:
    os.close(os.open(bytes(tmp_path) + b"/gr\xfcn", os.O_CREAT | os.O_WRONLY))

    output = await called(list_dir, tmp_path)

    assert output.status == "ok"
    assert output.model_dump_json()


async def test_what_cannot_be_listed_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()

    for path, said in (
        ("a.md", "a.md is a file, not a folder."),
        ("none", "Cannot list none: no such file or directory."),
    ):
        assert await called(list_dir, tmp_path, path=path) == ToolOutput(status="error", text=said)


async def test_nothing_outside_the_workspace_is_listed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()

    assert "leads out of the workspace" in (await called(list_dir, tmp_path / "work", path="..")).text
