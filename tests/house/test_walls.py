from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.house.source import PACKAGE, ROOT, plain_environment

FLOORS = (
    ("contracts",),
    ("brain", "context", "authority", "providers", "agents"),
    ("activities", "workflows"),
    ("worker", "client"),
    ("testing", "cli"),
)
PURE = ("contracts", "brain", "context", "authority")
NOT_PURE = ("temporalio", "httpx", "asyncio", "os", "time", "random", "logging")
NOT_IN_WORKFLOWS = ("perdure.activities", "perdure.providers", "httpx")
CLOCKED = ("activities", "providers", "worker", "client", "cli")
UNREPEATABLE = {
    "datetime.datetime.now": "import datetime as d\nx = d.datetime.now(d.UTC)\n",
    "uuid.uuid4": "from uuid import uuid4\nx = uuid4()\n",
    "os.environ": "from os import environ\nx = environ['HOME']\n",
    "os.getenv": "import os\nx = os.getenv('HOME')\n",
    "time.time": "import time\nx = time.time()\n",
}

CROSSINGS = [
    (room, other)
    for floor, rooms in enumerate(FLOORS)
    for room in rooms
    for other in (name for upper in FLOORS[floor:] for name in upper if name != room)
]


def run(program: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / program, *arguments],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


def copy_of_the_house(folder: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(PACKAGE, folder / "perdure", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def plant(house: Path, room: str, name: str, modules: Sequence[str]) -> None:
    lines = [f"import {module}" for module in modules]
    (house / "perdure" / room / f"{name}.py").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def walls_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    house = copy_of_the_house(tmp_path_factory.mktemp("walls"))
    for room, other in CROSSINGS:
        plant(house, room, f"planted_{other}", [f"perdure.{other}"])
    for room in PURE:
        plant(house, room, "planted_acts", NOT_PURE)
    plant(house, "workflows", "planted_acts", NOT_IN_WORKFLOWS)
    (house / "perdure" / "attic").mkdir()
    (house / "perdure" / "attic" / "__init__.py").touch()

    ended = run("lint-imports", "--no-cache", "--no-logo", folder=house)

    assert ended.returncode == 1
    return " ".join(ended.stdout.split())


def test_every_room_stands_on_a_floor() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert rooms == {room for floor in FLOORS for room in floor}


@pytest.mark.parametrize(("room", "other"), CROSSINGS)
def test_an_import_of_a_higher_floor_or_a_stranger_is_reported(walls_report: str, room: str, other: str) -> None:
    assert f"perdure.{room}.planted_{other} -> perdure.{other}" in walls_report


def test_a_room_on_no_floor_is_reported(walls_report: str) -> None:
    assert "not listed as layers" in walls_report
    assert "attic" in walls_report


@pytest.mark.parametrize("room", PURE)
@pytest.mark.parametrize("module", NOT_PURE)
def test_a_pure_room_that_acts_is_reported(walls_report: str, room: str, module: str) -> None:
    assert f"perdure.{room}.planted_acts -> {module}" in walls_report


@pytest.mark.parametrize("module", NOT_IN_WORKFLOWS)
def test_a_workflow_that_acts_is_reported(walls_report: str, module: str) -> None:
    assert f"perdure.workflows.planted_acts -> {module}" in walls_report


@pytest.fixture(scope="module")
def lint_report(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    house = copy_of_the_house(tmp_path_factory.mktemp("lint"))
    for room in (room for floor in FLOORS for room in floor):
        for number, source in enumerate(UNREPEATABLE.values()):
            (house / "perdure" / room / f"planted_{number}.py").write_text(source)

    ended = run("ruff", "check", "--no-cache", "--output-format=concise", ".", folder=house)

    assert ended.returncode == 1
    return [line for line in ended.stdout.splitlines() if "planted_" in line and "TID251" in line]


@pytest.mark.parametrize("room", sorted({room for floor in FLOORS for room in floor} - set(CLOCKED)))
@pytest.mark.parametrize("banned", UNREPEATABLE)
def test_the_clock_random_ids_and_the_environment_are_reported(lint_report: list[str], room: str, banned: str) -> None:
    assert any(line.startswith(f"perdure/{room}/") and f"`{banned}` is banned" in line for line in lint_report)


@pytest.mark.parametrize("room", CLOCKED)
def test_rooms_that_act_may_use_them(lint_report: list[str], room: str) -> None:
    assert not any(line.startswith(f"perdure/{room}/") for line in lint_report)
