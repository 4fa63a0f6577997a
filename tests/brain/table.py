"""The table of phases, as the document says and as the code has it: declared types, and some hundred random runs."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from perdure.brain.loop import Advance
from perdure.contracts.phases import Phase
from tests.brain.chaos import World, walk

WALKS = 700
START_REQUEST = "the start request"


@dataclass(slots=True)
class Row:
    """One phase: who sets it, its payload, and the instructions that may follow."""

    set_by: set[str] = field(default_factory=set)
    payload: tuple[str, ...] = ()
    follow: set[str] = field(default_factory=set)


def named(cell: str) -> tuple[str, ...]:
    """What stands in a cell of the document in code."""
    return tuple(re.findall(r"`(\w+)`", cell))


def documented(text: str) -> Mapping[str, Row]:
    """The rows by phase, as the document says."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0].startswith("`"):
            phase, _, set_by, payload, follow = cells
            rows[phase.strip("`")] = Row(set(named(set_by)) or {set_by}, named(payload), set(named(follow)))
    return rows


def members(union: Any) -> dict[str, type[BaseModel]]:
    """The classes of a discriminated union, by name, in their order."""
    inner = get_args(union)[0] if get_origin(union) is Annotated else union
    return {member.__name__: member for member in get_args(inner)}


def observed() -> Mapping[str, Row]:
    """The rows by phase, in the order of the union."""
    seen: dict[str, Row] = defaultdict(Row)

    def note(_: World, advances: tuple[Advance, ...]) -> None:
        for advance in advances:
            row = seen[type(advance.phase).__name__]
            row.set_by.add(type(advance.outcome).__name__ if advance.outcome else START_REQUEST)
            row.follow |= {type(instruction).__name__ for instruction in advance.instructions}

    for seed in range(WALKS):
        generator = random.Random(seed)
        walk(generator.choice, generator.randrange(40), note)
    for name, phase in members(Phase).items():
        seen[name].payload = tuple(name for name in phase.model_fields if name != "kind")
    return {name: seen[name] for name in members(Phase)}
