from __future__ import annotations

import os
from pathlib import Path

from perdure.activities.disk import LocalDisk


def test_links_are_told_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "away").symlink_to("../elsewhere")
    (tmp_path / "plain").write_text("x")
    links = LocalDisk()
    assert links.target(str(tmp_path / "away")) == "../elsewhere"
    assert links.target(str(tmp_path / "plain")) is None
    assert links.links_in(str(tmp_path)) == {str(tmp_path / "away"): "../elsewhere"}


def test_what_cannot_be_looked_at_holds_nothing(tmp_path: Path) -> None:
    links = LocalDisk()
    for path in (str(tmp_path / "nowhere"), "a\0b", "x" * 10_000, "\ud800"):
        assert links.target(path) is None
        assert links.links_in(path) == {}
        assert links.credentials_below(path, 9) == []


def furnish(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def test_files_with_credentials_are_found_by_their_names_nearest_first(tmp_path: Path) -> None:
    furnish(tmp_path, "a/b/.env", "a/id_rsa", "a/id_rsa.pub", ".env", ".env.example", "notes.md", ".ssh/config")
    furnish(tmp_path, "node_modules/x/key.pem", "v/lib/site-packages/c/cacert.pem", ".git/x.pem")
    (tmp_path / "away").symlink_to("a")
    (tmp_path / "away.pem").symlink_to("notes.md")

    def found(depth: int) -> set[str]:
        return {os.path.relpath(file, tmp_path) for file in LocalDisk().credentials_below(str(tmp_path), depth)}

    assert found(1) == {".env", "away.pem"}
    assert found(2) == {".env", "away.pem", "a/id_rsa", ".ssh/config"}
    assert found(9) == {".env", "away.pem", "a/id_rsa", ".ssh/config", "a/b/.env"}
    assert LocalDisk().credentials_below(str(tmp_path), 9)[-1] == str(tmp_path / "a" / "b" / ".env")


def test_a_search_for_them_ends_however_much_there_is(tmp_path: Path) -> None:
    furnish(tmp_path, *(f"{number}.pem" for number in range(30)), "deep/1.pem")
    disk = LocalDisk(most=20)

    assert len(disk.credentials_below(str(tmp_path), 9)) <= 20
    assert disk.credentials_below(str(tmp_path), 9) == []
