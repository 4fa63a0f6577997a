from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from perdure.activities.builtin.files import read_file, write_file
from perdure.activities.functions import tool_from
from perdure.activities.results import MOST_BYTES, SHOWN_BYTES
from perdure.contracts.tools import ToolOutput
from tests.activities.calling import called


def error(text: str) -> ToolOutput:
    return ToolOutput(status="error", text=text)


def test_both_declare_their_effect_their_path_and_that_they_may_run_twice() -> None:
    for function, effect in ((read_file, "read"), (write_file, "write")):
        spec = tool_from(function).spec

        assert (spec.effect, spec.idempotent, spec.path_arguments) == (effect, True, ("path",))
        assert "context" not in spec.parameters["properties"]  # type: ignore[operator]  # a schema is JSON


async def test_a_text_is_read_to_the_byte(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("eins\r\nzwei €\n\n".encode())

    assert (await called(read_file, tmp_path, path="a.md")).text == "eins\r\nzwei €\n\n"


async def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfhej")

    assert (await called(read_file, tmp_path, path="a.md")).text == "hej"


async def test_what_is_no_utf8_is_still_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"gr\xfcn")

    assert (await called(read_file, tmp_path, path="a.txt")).text == "gr�n"


async def test_a_part_says_where_to_go_on_and_the_parts_make_the_whole(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 6)))

    first = await called(read_file, tmp_path, path="a.txt", limit=2)
    second = await called(read_file, tmp_path, path="a.txt", offset=3, limit=2)
    third = await called(read_file, tmp_path, path="a.txt", offset=5)

    assert first.text == "line 1\nline 2\n\n[Lines 1 to 2 are shown and more follow: go on with offset=3.]"
    assert second.text == "line 3\nline 4\n\n[Lines 3 to 4 are shown and more follow: go on with offset=5.]"
    assert third.text == "line 5\n"


async def test_a_limit_that_just_suffices_leaves_nothing_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n")

    assert (await called(read_file, tmp_path, path="a.txt", limit=2)).text == "1\n2\n"


async def test_a_long_file_is_shown_in_whole_lines_that_fit(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{n:05} {'x' * 93}\n" for n in range(1, 2001)))

    output = await called(read_file, tmp_path, path="a.txt")

    shown, _, note = output.text.rpartition("\n\n")
    assert len(shown.encode()) <= SHOWN_BYTES
    assert len(output.text.encode()) <= MOST_BYTES
    last = int(shown.splitlines()[-1].split()[0])
    assert note == f"[Lines 1 to {last} are shown and more follow: go on with offset={last + 1}.]"


async def test_an_endless_line_is_cut_and_the_next_one_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("€" * 100_000 + "\nend\n")

    first = await called(read_file, tmp_path, path="a.json")
    second = await called(read_file, tmp_path, path="a.json", offset=2)

    assert first.text.endswith(f"\n[Line 1 is cut after {SHOWN_BYTES:,} bytes. The next line is at offset=2.]")
    assert "�" not in first.text
    assert second.text == "end\n"


async def test_an_offset_past_the_end_says_how_long_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n2\n")

    for offset in (3, 9):
        assert await called(read_file, tmp_path, path="a.txt", offset=offset) == error(
            f"a.txt has 2 lines: offset {offset} is past its end."
        )


async def test_a_binary_file_is_described(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\0\0")

    assert (await called(read_file, tmp_path, path="a.png")).text == "[a.png is a binary file: image/png, 6 bytes.]"


async def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()

    assert (await called(read_file, tmp_path, path="a.txt")).text == "[a.txt is empty.]"


async def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert await called(read_file, tmp_path, path="pipe") == error("pipe is not a regular file.")


@pytest.mark.parametrize(
    ("path", "said"),
    [("none.md", "Cannot read none.md: no such file or directory."), (".", ". is a folder, not a file.")],
)
async def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, path: str, said: str) -> None:
    assert await called(read_file, tmp_path, path=path) == error(said)


async def test_nothing_outside_the_workspace_is_read_or_written(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link.txt").symlink_to("../secret.txt")

    for path in ("../secret.txt", "link.txt", str(tmp_path / "secret.txt")):
        for output in (
            await called(read_file, tmp_path / "work", path=path),
            await called(write_file, tmp_path / "work", path=path, content="mine"),
        ):
            assert output.status == "error"
            assert "leads out of the workspace" in output.text
    assert (tmp_path / "secret.txt").read_text() == "secret"


async def test_a_file_is_written_with_its_folders_and_the_bytes_are_told(tmp_path: Path) -> None:
    first = await called(write_file, tmp_path, path="new/folder/a.md", content="h€j")
    second = await called(write_file, tmp_path, path="new/folder/a.md", content="hej\n")

    assert first.text == "Wrote 5 bytes to new/folder/a.md (new file)."
    assert second.text == "Wrote 4 bytes to new/folder/a.md (replaced 5 bytes)."
    assert (tmp_path / "new/folder/a.md").read_bytes() == b"hej\n"


async def test_writing_leaves_nothing_else_behind(tmp_path: Path) -> None:
    await called(write_file, tmp_path, path="a.md", content="x")

    assert os.listdir(tmp_path) == ["a.md"]


async def test_a_reader_sees_the_old_file_or_the_new_one_and_never_a_part(tmp_path: Path) -> None:
    wholes = {letter * 200_000 for letter in "ab"}
    (tmp_path / "a.txt").write_text("a" * 200_000)
    seen: set[str] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add((tmp_path / "a.txt").read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for letter in "babababa":
        await called(write_file, tmp_path, path="a.txt", content=letter * 200_000)
    done.set()
    reader.join()

    assert seen <= wholes


async def test_a_replaced_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    (tmp_path / "run.sh").touch(mode=0o755)
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "link.sh").symlink_to("run.sh")

    await called(write_file, tmp_path, path="link.sh", content="echo")

    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o755
    assert (tmp_path / "run.sh").read_text() == "echo"
    assert (tmp_path / "link.sh").is_symlink()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("folder", "folder is a folder, not a file."),
        ("a.txt/b.md", "Cannot write a.txt/b.md: one of its folders is a file."),
        ("a.txt/b/c.md", "Cannot write a.txt/b/c.md: one of its folders is a file."),
        ("x" * 300, f"Cannot write {'x' * 300}: file name too long."),
    ],
)
async def test_what_cannot_be_written_is_told_in_a_sentence(tmp_path: Path, path: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").touch()

    assert await called(write_file, tmp_path, path=path, content="x") == error(said)
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "folder"]


async def test_a_content_that_is_no_text_is_refused(tmp_path: Path) -> None:
    output = await called(write_file, tmp_path, path="a.md", content="ab\udcff")

    assert output.status == "error"
    assert os.listdir(tmp_path) == []
