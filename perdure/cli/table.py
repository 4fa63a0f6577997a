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
NARROWEST = 14
"""Columns that a cell may be folded into at the least."""


def show_table(
    screen: Screen, titles: Sequence[str], rows: Iterable[Sequence[str]], *, folded: Collection[str] = ()
) -> None:
    """Show the rows below the titles. Cells of the columns that ``folded`` names may take several lines.

    Where that is still too wide, the first cell of each row heads a block of the others, each behind its title.
    """
    cells = [[one_line(cell, CELL_CHARACTERS) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
    least = [min(width, NARROWEST) if title in folded else width for title, width in zip(titles, widths, strict=True)]
    if sum(least) + GAP * (len(titles) - 1) <= screen.out.width:
        screen.out.print(_columns(titles, cells, folded))
        return
    for row in cells:
        screen.write(_block(titles, row))


def _columns(titles: Sequence[str], cells: Iterable[Sequence[str]], folded: Collection[str]) -> Table:
    columns = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for title in titles:
        columns.add_column(title, no_wrap=title not in folded, overflow="fold")
    for row in cells:
        columns.add_row(*map(Text, row))
    return columns


def _block(titles: Sequence[str], row: Sequence[str]) -> Iterable[Span]:
    width = max(map(len, titles[1:]))
    yield Span(f"{row[0]}\n", "strong")
    for title, cell in zip(titles[1:], row[1:], strict=True):
        if cell:
            yield Span(f"  {title.lower():<{width}}  {cell}\n")
