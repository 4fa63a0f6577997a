from __future__ import annotations

import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from perdure.activities.replacing import replace_file


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_bytes(b"old")
    place.chmod(0o640)
    replace_file(place, b"new")
    assert (place.read_bytes(), stat.S_IMODE(place.stat().st_mode)) == (b"new", 0o640)
    assert [*tmp_path.iterdir()] == [place]


def test_whoever_writes_a_file_at_the_same_time_disturbs_nobody(tmp_path: Path) -> None:
    place, together = tmp_path / "a", threading.Barrier(8)

    def write(letter: bytes) -> None:
        together.wait(30)
        replace_file(place, letter * 1_000_000)

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, (b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h")))
    assert len(set(place.read_bytes())) == 1
    assert [*tmp_path.iterdir()] == [place]


def test_what_cannot_be_replaced_stays_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "a"
    (place / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        replace_file(place, b"new")
    assert [*tmp_path.iterdir()] == [place]
