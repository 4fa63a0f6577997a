from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from perdure.brain.loop import Advance
from perdure.contracts.instructions import Instruction
from perdure.contracts.outcomes import AnyOutcome
from perdure.contracts.phases import Phase
from tests.brain.chaos import World, walk

TABLE = Path(__file__).parents[2] / "docs" / "phases.md"
WALKS = 700
START_REQUEST = "the start request"

Row = tuple[set[str], set[str], set[str]]


def members(union: Any) -> dict[str, type[BaseModel]]:
    """The classes of a discriminated union, by name."""
    inner = get_args(union)[0] if get_origin(union) is Annotated else union
    return {member.__name__: member for member in get_args(inner)}


def named(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell))


@pytest.fixture(scope="module")
def table() -> dict[str, Row]:
    """Phase -> who sets it, its payload, the instructions that may follow, as the document says."""
    rows: dict[str, Row] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0].startswith("`"):
            phase, _, set_by, payload, follow = cells
            rows[phase.strip("`")] = (named(set_by) or {set_by}, named(payload), named(follow))
    return rows


@pytest.fixture(scope="module")
def observed() -> Mapping[str, tuple[set[str], set[str]]]:
    """Phase -> the outcomes that set it and the instructions that followed, in many random runs."""
    seen: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))

    def note(_: World, advances: tuple[Advance, ...]) -> None:
        for advance in advances:
            set_by, follow = seen[type(advance.phase).__name__]
            set_by.add(type(advance.outcome).__name__ if advance.outcome else START_REQUEST)
            follow |= {type(instruction).__name__ for instruction in advance.instructions}

    for seed in range(WALKS):
        generator = random.Random(seed)
        walk(generator.choice, generator.randrange(40), note)
    return seen


def test_the_table_has_every_phase_and_no_other(table: Mapping[str, Row]) -> None:
    assert list(table) == list(members(Phase))


@pytest.mark.parametrize("phase", members(Phase))
def test_the_payload_of_a_phase_is_as_the_table_says(table: Mapping[str, Row], phase: str) -> None:
    assert table[phase][1] == set(members(Phase)[phase].model_fields) - {"kind"}


@pytest.mark.parametrize("phase", members(Phase))
def test_a_phase_is_set_by_exactly_the_outcomes_that_the_table_names(
    table: Mapping[str, Row], observed: Mapping[str, tuple[set[str], set[str]]], phase: str
) -> None:
    assert observed[phase][0] == table[phase][0]
    assert table[phase][0] <= {*members(AnyOutcome), START_REQUEST}


@pytest.mark.parametrize("phase", members(Phase))
def test_exactly_the_instructions_of_the_table_follow_a_phase(
    table: Mapping[str, Row], observed: Mapping[str, tuple[set[str], set[str]]], phase: str
) -> None:
    assert observed[phase][1] == table[phase][2]
    assert table[phase][2] <= set(members(Instruction))
