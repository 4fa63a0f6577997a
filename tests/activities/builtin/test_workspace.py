from __future__ import annotations

from pathlib import Path

import pytest

from perdure.activities.builtin.workspace import place_in, saying, workspace_of
from perdure.contracts.errors import ToolError


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work" / "notes").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    return tmp_path / "work"


@pytest.mark.parametrize("path", [".", "", "notes", "notes/new/a.md", "./notes/../notes", "...", "a b", "notes//x"])
def test_a_path_inside_leads_to_its_place(workspace: Path, path: str) -> None:
    assert place_in(str(workspace), path) == (workspace / path).resolve()


def test_an_absolute_path_inside_is_inside(workspace: Path) -> None:
    assert place_in(str(workspace), str(workspace / "notes")) == workspace / "notes"


@pytest.mark.parametrize(
    "path", ["..", "../outside", "notes/../../outside/x", "/", "/etc/passwd", "~", "~/.ssh/id_ed25519", "../work2"]
)
def test_a_path_that_leads_out_is_refused(workspace: Path, path: str) -> None:
    with pytest.raises(ToolError, match=r"leads out of the workspace .* Give a path inside it\."):
        place_in(str(workspace), path)


def test_a_link_cannot_lead_out(workspace: Path) -> None:
    (workspace / "door").symlink_to(workspace.parent / "outside")
    (workspace / "notes" / "up").symlink_to("../..")

    for path in ("door", "door/x", "notes/up/outside", "door/../work/notes/up"):
        with pytest.raises(ToolError, match="leads out"):
            place_in(str(workspace), path)


def test_a_link_inside_is_followed(workspace: Path) -> None:
    (workspace / "short").symlink_to("notes")

    assert place_in(str(workspace), "short/a.md") == workspace / "notes" / "a.md"


def test_a_workspace_that_is_a_link_is_the_folder_that_it_leads_to(workspace: Path) -> None:
    link = workspace.parent / "link"
    link.symlink_to(workspace)

    assert place_in(str(link), "notes") == workspace / "notes"


@pytest.mark.parametrize("path", ["a\0b", "loop/x", "~nobody-of-this-name-x/y"])
def test_a_path_that_cannot_be_is_refused_in_a_sentence(workspace: Path, path: str) -> None:
    (workspace / "loop").symlink_to("loop")

    with pytest.raises(ToolError, match=r"cannot be used|leads out"):
        place_in(str(workspace), path)


def test_a_workspace_that_is_no_folder_is_named(workspace: Path) -> None:
    with pytest.raises(ToolError, match=r"none is not a folder on this worker"):
        workspace_of(str(workspace / "none"))


def test_what_the_system_refuses_becomes_a_sentence() -> None:
    with pytest.raises(ToolError, match=r"^Cannot read a\.md: permission denied\.$"), saying("read a.md"):
        raise PermissionError(13, "Permission denied", "/somewhere/a.md")
