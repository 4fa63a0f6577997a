from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from perdure.contracts.instructions import Instruction
from perdure.contracts.outcomes import AnyOutcome
from perdure.contracts.phases import Phase
from tests.brain.table import START_REQUEST, Row, documented, members, observed

TABLE = Path(__file__).parents[2] / "docs" / "phases.md"

Table = Mapping[str, Row]


@pytest.fixture(scope="module")
def table() -> Table:
    return documented(TABLE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def seen() -> Table:
    return observed()


def test_the_table_has_every_phase_and_no_other(table: Table) -> None:
    assert list(table) == list(members(Phase))


@pytest.mark.parametrize("phase", members(Phase))
def test_the_payload_of_a_phase_is_as_the_table_says(table: Table, phase: str) -> None:
    assert set(table[phase].payload) == set(members(Phase)[phase].model_fields) - {"kind"}


@pytest.mark.parametrize("phase", members(Phase))
def test_a_phase_is_set_by_exactly_the_outcomes_that_the_table_names(table: Table, seen: Table, phase: str) -> None:
    assert seen[phase].set_by == table[phase].set_by
    assert table[phase].set_by <= {*members(AnyOutcome), START_REQUEST}


@pytest.mark.parametrize("phase", members(Phase))
def test_exactly_the_instructions_of_the_table_follow_a_phase(table: Table, seen: Table, phase: str) -> None:
    assert seen[phase].follow == table[phase].follow
    assert table[phase].follow <= set(members(Instruction))
