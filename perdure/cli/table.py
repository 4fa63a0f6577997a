"""Tables that cut nothing, as ids in them are there to be copied: where columns do not fit, each row is a block."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.text import one_line

CELL_CHARACTERS = 300
GAP = 2
NOTHING = "-"
"""A cell that says no more than an empty one: in a pipe, programs count columns."""
WIDEST_WORD = 40
"""Words up to here are never folded."""


def show_table(
    screen: Screen, titles: Sequence[str], rows: Iterable[Sequence[str]], *, folded: Collection[str] = ()
) -> None:
    """Show the rows below the titles. Cells of the columns that ``folded`` names may take several lines.

    Where that is still too wide, the first cell of each row heads a block of the others, each behind its title.
    """
    shown = [[one_line(cell, CELL_CHARACTERS) for cell in row] for row in rows]
    columns = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    least = -GAP
    for title, *cells in zip(titles, *shown, strict=True):
        wide = max(map(cell_len, (title, *cells)))
        narrow = min(WIDEST_WORD, max(map(_widest_word, (title, *cells)))) if title in folded else wide
        least += narrow + GAP
        columns.add_column(title, no_wrap=title not in folded, overflow="fold", min_width=narrow)
    if least > screen.out.width:
        for row in shown:
            screen.write(_block(titles, row))
        return
    for row in shown:
        columns.add_row(*map(Text, row))
    screen.out.print(columns)


def _widest_word(cell: str) -> int:
    return max(map(cell_len, cell.split()), default=0)


def _block(titles: Sequence[str], row: Sequence[str]) -> Iterable[Span]:
    width = max(map(len, titles[1:]))
    yield Span(f"{row[0]}\n", "strong")
    for title, cell in zip(titles[1:], row[1:], strict=True):
        if cell not in ("", NOTHING):
            yield Span(f"  {title.lower():<{width}}  {cell}\n")
