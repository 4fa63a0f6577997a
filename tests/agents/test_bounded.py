from __future__ import annotations

import os
from pathlib import Path

import pytest

from perdure.agents.bounded import read_bounded


def test_of_a_large_file_no_more_is_read_than_shows_that_it_is_large(tmp_path: Path) -> None:
    file = tmp_path / "sparse"
    with file.open("wb") as opened:
        opened.truncate(3 * 1024**3)

    assert len(read_bounded(file, 10)) == 11


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    for path, said in ((pipe, "ot a regular file"), (Path("/dev/zero"), "ot a regular file"), (tmp_path, "directory")):
        with pytest.raises(OSError, match=said):
            read_bounded(path, 10)
