from __future__ import annotations

import asyncio
import os
import pty
from collections.abc import Iterator

import pytest

from perdure.cli.terminal import Lines


@pytest.fixture
def terminal() -> Iterator[tuple[int, Lines]]:
    """A terminal's own side, and the lines that come from it."""
    ours, theirs = pty.openpty()
    yield ours, Lines(theirs)
    os.close(ours)
    os.close(theirs)


async def test_lines_come_one_by_one(terminal: tuple[int, Lines]) -> None:
    ours, lines = terminal
    os.write(ours, "first\nzwölf\n".encode())

    assert await lines.next() == "first"
    assert await lines.next() == "zwölf"


async def test_ctrl_d_is_the_end_and_more_may_follow(terminal: tuple[int, Lines]) -> None:
    ours, lines = terminal

    os.write(ours, b"\x04")
    assert await lines.next() is None
    os.write(ours, b"more\n")
    assert await lines.next() == "more"


async def test_waiting_for_a_line_can_be_given_up_and_loses_none(terminal: tuple[int, Lines]) -> None:
    ours, lines = terminal
    waiting = asyncio.create_task(lines.next())
    await asyncio.sleep(0)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.write(ours, b"later\n")

    assert await lines.next() == "later"


async def test_what_was_typed_before_is_forgotten(terminal: tuple[int, Lines]) -> None:
    ours, lines = terminal
    os.write(ours, b"one\ntwo\nthree\n")
    assert await lines.next() == "one"

    lines.forget()
    os.write(ours, b"four\n")

    assert await lines.next() == "four"


async def test_a_closed_input_ends() -> None:
    read, write = os.pipe()
    os.write(write, b"last words")
    os.close(write)
    lines = Lines(read)

    assert await lines.next() == "last words"
    assert await lines.next() is None
    os.close(read)
