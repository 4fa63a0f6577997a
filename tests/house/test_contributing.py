from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from perdure.contracts.instructions import Instruction
from tests.brain.table import Row, members, observed
from tests.house.render import PHASES, rendered
from tests.house.source import PACKAGE, ROOT, python_files

CONTRIBUTING = ROOT / "CONTRIBUTING.md"
DOCUMENTS = (CONTRIBUTING, ROOT / "docs" / "architecture.md", ROOT / "docs" / "ui.md")
PATHS = re.compile(r"`((?:perdure|tests|docs|examples|\.ci)/[\w./-]*|CHANGELOG\.md)`")
LINKS = re.compile(r"\]\(([^)#:]+)\)")
DRAWN_ROOM = re.compile(r"(?:^\d   |^ {4}|  )([a-z]+) {2,}\S", re.MULTILINE)


def section(title: str) -> str:
    """A section of CONTRIBUTING, up to the next one."""
    text = CONTRIBUTING.read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    assert text, title
    return text.partition("\n## ")[0]


def drawn_floors() -> list[set[str]]:
    """The rooms of the drawing, from the top floor down."""
    drawing = section("The house").split("```")[1].strip("\n")
    floors: list[set[str]] = []
    for line in drawing.splitlines():
        if line[0].isdigit():
            floors.append(set())
        floors[-1] |= set(DRAWN_ROOM.findall(line))
    return floors


@pytest.fixture(scope="module")
def rows() -> Mapping[str, Row]:
    return observed()


def test_the_floors_are_drawn_as_the_walls_stand() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")

    assert drawn_floors() == [set(layer.split(" | ")) for layer in layers]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_file_that_a_document_names_is_there(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = [ROOT / path for path in PATHS.findall(text) if "/x/" not in path]
    named += [document.parent / link for link in LINKS.findall(text)]

    assert named
    assert [str(path) for path in named if not path.exists()] == []


def test_the_commands_that_are_named_are_there() -> None:
    targets = re.findall(r"^(\w+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = re.findall(r"^make (\w+)", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE)

    assert named
    assert set(named) <= set(targets)


def test_every_file_that_handles_all_instructions_is_a_step_of_adding_one() -> None:
    handling = [
        file.relative_to(ROOT).as_posix()
        for file in python_files(PACKAGE)
        if "assert_never(instruction)" in (text := file.read_text(encoding="utf-8"))
        and sum(f"case {name}()" in text or f"| {name}()" in text for name in members(Instruction)) >= 5
    ]

    assert len(handling) >= 3
    assert [path for path in handling if f"`{path}`" not in section("Add an instruction")] == []


def test_the_table_of_phases_is_what_the_command_renders(rows: Mapping[str, Row]) -> None:
    document = PHASES.read_text(encoding="utf-8")

    assert rendered(document, rows) == document, "run: python -m tests.house.render"


def test_a_table_that_says_something_else_is_drawn_anew(rows: Mapping[str, Row]) -> None:
    document = PHASES.read_text(encoding="utf-8")
    lines = [line for line in document.splitlines(keepends=True) if not line.startswith("| `Rested`")]
    wrong = "".join(lines).replace("| `failure` | `Finish` |", "| | `CallModel` |")

    mended = rendered(wrong, rows)

    assert wrong.count("`Finish`") < document.count("`Finish`")
    assert mended == document.replace("| A turn ended and nothing waits |", "| TODO |")


def test_a_document_without_the_table_is_refused(rows: Mapping[str, Row]) -> None:
    with pytest.raises(ValueError, match="has no table with the head"):
        rendered("# Phases\n", rows)


def test_the_command_says_that_nothing_had_to_be_changed() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "tests.house.render"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )

    assert said.stdout == "docs/phases.md was right\n"
