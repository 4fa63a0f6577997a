"""The data folder of our own server: its database, its log, where it is, and the two locks.

``server.lock`` belongs to whoever owns the database; ``users.lock`` is shared by all that use the server.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from perdure.activities.replacing import replace_file
from perdure.contracts.errors import InvalidSettingsError
from perdure.contracts.record import Record


class Whereabouts(Record):
    """Where our server is, as its users read it from ``server.json``."""

    address: str
    ui_url: str | None = None


@dataclass(frozen=True, slots=True)
class DataFolder:
    """What stands in the data folder."""

    path: Path

    @classmethod
    def prepare(cls, path: Path) -> DataFolder:
        """The folder at ``path``, there and ours to write in. Raises InvalidSettingsError."""
        folder = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            for file in (folder.lock, folder.users):
                os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise InvalidSettingsError(
                f"The folder {path} cannot hold the server's database ({error.strerror}). "
                "Name another one with PERDURE_DATA_DIR."
            ) from error
        return folder

    @property
    def database(self) -> Path:
        return self.path / "temporal.db"

    @property
    def log(self) -> Path:
        return self.path / "server.log"

    @property
    def whereabouts(self) -> Path:
        return self.path / "server.json"

    @property
    def lock(self) -> Path:
        return self.path / "server.lock"

    @property
    def users(self) -> Path:
        return self.path / "users.lock"

    def read_whereabouts(self) -> Whereabouts | None:
        """Where our server is, or None when that was not written (or not wholly)."""
        try:
            return Whereabouts.model_validate_json(self.whereabouts.read_bytes())
        except (OSError, ValidationError):
            return None

    def write_whereabouts(self, where: Whereabouts) -> None:
        """Say where our server is going to be."""
        replace_file(self.whereabouts, where.model_dump_json().encode())

    def last_words(self) -> str:
        """The last line of the server's log."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1][:300] if lines else ""


def lock(path: Path, kind: int) -> int | None:
    """An open descriptor that holds the lock on ``path``, or None when others hold it. Closing it lets go."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
