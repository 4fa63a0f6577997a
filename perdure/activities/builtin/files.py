"""Reading and writing one file of the workspace."""

from __future__ import annotations

import mimetypes
import os
import stat
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import Field

from perdure.activities.builtin.workspace import place_in, saying
from perdure.activities.declaration import tool
from perdure.activities.replacing import replace_file
from perdure.activities.results import SHOWN_BYTES
from perdure.contracts.errors import ToolError
from perdure.contracts.tools import CallContext

SNIFFED_BYTES = 8 * 1024
UTF8_MARK = b"\xef\xbb\xbf"


@tool(effect="read", idempotent=True, path_arguments=("path",))
def read_file(
    path: str,
    context: CallContext,
    offset: Annotated[int, Field(ge=1)] = 1,
    limit: Annotated[int, Field(ge=1)] = 2000,
) -> str:
    """Read a text file of the workspace. Says what it left out of a long one; a binary file is only described.

    Args:
        path: The file, relative to the workspace.
        offset: The first line to show, counted from 1.
        limit: How many lines to show at most.
    """
    place = place_in(context.workspace, path)
    with saying(f"read {path}"):
        size = _size(place, path)
        with place.open("rb") as file:
            start = file.read(SNIFFED_BYTES)
            if b"\0" in start:
                kind = mimetypes.guess_type(place.name)[0] or "unknown type"
                return f"[{path} is a binary file: {kind}, {size:,} bytes.]"
            if not start:
                return f"[{path} is empty.]"
            file.seek(len(UTF8_MARK) if start.startswith(UTF8_MARK) else 0)
            return _lines(file, path, offset, limit)


@tool(effect="write", idempotent=True, path_arguments=("path",))
def write_file(path: str, content: str, context: CallContext) -> str:
    """Write a text file of the workspace, whole: what was there before is replaced. Missing folders are made.

    Args:
        path: The file, relative to the workspace.
        content: The whole text of the file.
    """
    place = place_in(context.workspace, path)
    try:
        data = content.encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"Cannot write {path}: the content is no valid text at character {error.start}.") from None
    with saying(f"write {path}"):
        before = _size(place, path) if place.exists() else None
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ToolError(f"Cannot write {path}: one of its folders is a file.") from None
        if before is not None and not os.access(place, os.W_OK):
            raise ToolError(f"{place.name} is write-protected.")
        replace_file(place, data)
    return f"Wrote {_bytes(len(data))} to {path} ({'new file' if before is None else f'replaced {_bytes(before)}'})."


def _bytes(number: int) -> str:
    return f"{number:,} byte{'' if number == 1 else 's'}"


def _size(place: Path, path: str) -> int:
    status = place.stat()
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{path} is a folder, not a file.")
    if not stat.S_ISREG(status.st_mode):
        # A pipe or a device may answer never, or without end.
        raise ToolError(f"{path} is not a regular file.")
    return status.st_size


def _lines(file: BinaryIO, path: str, offset: int, limit: int) -> str:
    for number in range(1, offset):
        if not _next_line(file):
            raise ToolError(f"{path} has {number - 1} lines: offset {offset} is past its end.")
    shown: list[bytes] = []
    room = SHOWN_BYTES
    while len(shown) < limit and (line := file.readline(room + 1)):
        if len(line) > room:
            break
        shown.append(line)
        room -= len(line)
    else:
        rest = bool(file.read(1))
        if not shown:
            raise ToolError(f"{path} has {offset - 1} lines: offset {offset} is past its end.")
        text = b"".join(shown).decode(errors="replace")
        return text + _left_out(offset, len(shown)) * rest
    if shown:
        return b"".join(shown).decode(errors="replace") + _left_out(offset, len(shown))
    cut = line[:SHOWN_BYTES].decode(errors="ignore")
    return f"{cut}\n[Line {offset} is cut after {SHOWN_BYTES:,} bytes. The next line is at offset={offset + 1}.]"


def _next_line(file: BinaryIO) -> bool:
    # A line may be longer than memory, so it is passed over in pieces.
    piece = line = file.readline(SHOWN_BYTES)
    while piece and not piece.endswith(b"\n"):
        piece = file.readline(SHOWN_BYTES)
    return bool(line)


def _left_out(offset: int, count: int) -> str:
    return f"\n[Lines {offset} to {offset + count - 1} are shown and more follow: go on with offset={offset + count}.]"
