"""The data folder of our own server: who owns it, who uses it, where the server is."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from perdure.contracts.errors import InvalidSettingsError
from perdure.worker.folder import DataFolder, Whereabouts, lock
from perdure.worker.server import ensure_server
from tests.worker.own import own


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder.prepare(tmp_path / "data")


def test_one_process_owns_the_database_until_it_lets_go(folder: DataFolder) -> None:
    held = lock(folder.lock, fcntl.LOCK_EX)
    assert held is not None
    assert lock(folder.lock, fcntl.LOCK_EX) is None
    os.close(held)
    again = lock(folder.lock, fcntl.LOCK_EX)
    assert again is not None
    os.close(again)


def test_many_use_the_server_and_its_end_waits_for_all_of_them(folder: DataFolder) -> None:
    users = [lock(folder.users, fcntl.LOCK_SH) for _ in range(3)]
    for user in users:
        assert lock(folder.users, fcntl.LOCK_EX) is None
        assert user is not None
        os.close(user)
    last = lock(folder.users, fcntl.LOCK_EX)
    assert last is not None
    os.close(last)


def test_where_the_server_is_can_be_read_by_others(folder: DataFolder) -> None:
    assert folder.read_whereabouts() is None
    where = Whereabouts(address="127.0.0.1:7233", ui_url="http://localhost:8233")
    folder.write_whereabouts(where)
    assert DataFolder(folder.path).read_whereabouts() == where
    assert [file.name for file in folder.path.glob("server.json*")] == ["server.json"]


def test_half_a_word_on_where_the_server_is_counts_as_none(folder: DataFolder) -> None:
    folder.whereabouts.write_text('{"address": "127.0')
    assert folder.read_whereabouts() is None


def test_the_folder_is_for_its_user_alone(folder: DataFolder) -> None:
    assert folder.path.stat().st_mode & 0o077 == 0


async def test_a_data_folder_that_cannot_be_one_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(InvalidSettingsError, match="PERDURE_DATA_DIR"):
        await ensure_server(own(tmp_path))
