"""Render what documents say of the code: ``python -m tests.house.render``.

The table of `docs/phases.md` comes from the declared types and from many random runs of the brain; only its second
column, what happened, is written by people.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from perdure.contracts.instructions import Instruction
from perdure.contracts.outcomes import AnyOutcome
from tests.brain.table import START_REQUEST, Row, members, observed
from tests.house.source import ROOT

PHASES = ROOT / "docs" / "phases.md"
HEAD = "| Phase | What happened | Set by | Payload | Instructions that may follow |\n|---|---|---|---|---|\n"


def rendered(document: str, rows: Mapping[str, Row]) -> str:
    """The document with its table drawn anew. A phase that it did not have yet says TODO in its second column."""
    before, found, after = document.partition(HEAD)
    if not found:
        raise ValueError(f"{PHASES.name} has no table with the head {HEAD.splitlines()[0]}")
    written = after.split("\n\n", 1)
    told = {line.split("|")[1].strip(" `"): line.split("|")[2].strip() for line in written[0].splitlines()}
    table = "".join(_row(name, told.get(name, "TODO"), row) for name, row in rows.items())
    return "\n".join((f"{before}{HEAD}{table}", *written[1:]))


def _row(name: str, told: str, row: Row) -> str:
    outcomes = [_code([name]) if name != START_REQUEST else name for name in (START_REQUEST, *members(AnyOutcome))]
    set_by = ", ".join(name for name in outcomes if name.strip("`") in row.set_by)
    follow = _code(name for name in members(Instruction) if name in row.follow)
    cells = (_code([name]), told, set_by, _code(row.payload), follow)
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|\n"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def main(file: Path = PHASES) -> int:
    """Write the document when it is not what the code says, and say whether it was."""
    document = file.read_text(encoding="utf-8")
    new = rendered(document, observed())
    if new != document:
        file.write_text(new, encoding="utf-8")
    print(f"{file.relative_to(ROOT)} {'is written anew' if new != document else 'was right'}")  # noqa: T201 - what a command says
    return 0


if __name__ == "__main__":
    sys.exit(main())
