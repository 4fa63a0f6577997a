"""Where text goes: what a run says to the output, progress and questions to the error stream.

A log, a pipe and a dumb terminal get the same words without styles. ``NO_COLOR`` turns bold and dim off too: the
convention leaves these open, and plain text is what its users expect.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console
from rich.text import Text

from perdure.cli.lines import Span, Style

STYLES: dict[Style, str] = {
    "plain": "",
    "quiet": "dim",
    "strong": "bold",
    "good": "green",
    "bad": "red",
    "alert": "yellow",
}
UNKNOWN_WIDTH = 80
WIDTH_OF_A_PIPE = 10_000
"""Programs read it line by line: nothing is folded there."""


class PlainConsole(Console):
    """A console that leaves it to its caller what a reader who has gone away means."""

    def on_broken_pipe(self) -> None:
        """Raises BrokenPipeError, where Rich would end the process."""
        raise BrokenPipeError


def console(stream: TextIO) -> Console:
    """A console that adds nothing to what it is given: no markup, no highlighting, no wrapping of its own."""
    return PlainConsole(
        file=stream,
        # Rich itself heeds NO_COLOR for colours alone.
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        width=_width(stream),
        # Without a height, Rich takes every dumb terminal for one of 80 columns.
        height=25,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
    )


def _width(stream: TextIO) -> int:
    if not stream.isatty():
        return WIDTH_OF_A_PIPE
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or UNKNOWN_WIDTH
    except OSError:
        return UNKNOWN_WIDTH


class Screen:
    """What a command shows. While it is held, output waits: a question stands still under the person's hands."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = console(out or sys.stdout)
        self.err = console(err or sys.stderr)
        self._held: list[Span] | None = None

    @property
    def at_terminal(self) -> bool:
        """Whether one reader sees both what the run says and the errors."""
        return self.out.is_terminal and self.err.is_terminal

    def write(self, spans: Iterable[Span]) -> None:
        """Show what a run says."""
        if self._held is not None:
            self._held.extend(spans)
        else:
            _print(self.out, spans)

    def ask(self, spans: Iterable[Span]) -> None:
        """Show a part of a question."""
        _print(self.err, spans)

    def note(self, line: str, style: Style = "quiet") -> None:
        """Show a line about what the command itself does: progress, hints."""
        _print(self.err, (Span(line + "\n", style),))

    def line(self, line: str) -> None:
        """Write one line for programs to read, exactly as it is."""
        print(line, file=self.out.file, flush=True)

    def hold(self) -> None:
        """Keep back what is written, until `release`."""
        if self._held is None:
            self._held = []

    def release(self) -> None:
        """Show what was kept back."""
        held, self._held = self._held, None
        _print(self.out, held or ())


def _print(target: Console, spans: Iterable[Span]) -> None:
    for span in spans:
        target.print(Text(span.text, style=STYLES[span.style], end=""), end="")
    target.file.flush()
