from __future__ import annotations

import os

from tests.house.source import DOORS, PACKAGE, ROOT, TESTS, imported, python_files, shown


def test_the_doors_are_relative_links_to_their_rooms() -> None:
    links = {path.name: os.readlink(path) for path in ROOT.iterdir() if path.is_symlink() and path.name != ".venv"}

    assert links == {name: f"perdure/{name}" for name in DOORS}


def test_behind_every_door_is_a_room() -> None:
    assert all((ROOT / name / "__init__.py").samefile(PACKAGE / name / "__init__.py") for name in DOORS)


def test_nothing_is_imported_through_a_door() -> None:
    through_a_door = [
        shown(file, line)
        for file in python_files(PACKAGE, TESTS, ROOT / "examples")
        for name, line in imported(file)
        if name.split(".")[0] in DOORS
    ]

    assert through_a_door == []
