"""Asking before something that touches many runs is done."""

from __future__ import annotations

import sys

from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.terminal import Lines, interactive
from perdure.contracts.errors import InvalidInputError


async def confirmed(screen: Screen, what: str, *, yes: bool) -> bool:
    """Whether a person says yes to ``what``, or ``yes`` said it already; says so when nothing is done.

    Raises InvalidInputError when nobody can be asked.
    """
    if yes:
        return True
    if not interactive():
        raise InvalidInputError(f"Nobody can be asked here whether to {what}: say it with --yes. Nothing was done.")
    lines = Lines(sys.stdin.fileno())
    lines.forget()
    screen.ask((Span(f"\n{what[0].upper()}{what[1:]}? Type yes, then Enter: ", "strong"),))
    line = await lines.next()
    if line is not None and line.strip().lower() in ("y", "yes"):
        return True
    screen.note("Nothing was done.", "plain")
    return False
