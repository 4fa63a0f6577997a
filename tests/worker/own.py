"""A Temporal server of the test's own, as the worker room starts one."""

from __future__ import annotations

import fcntl
import os
from datetime import timedelta
from pathlib import Path

from perdure.worker.folder import DataFolder, lock
from perdure.worker.settings import Settings
from tests.servers import free_port


def own(
    tmp_path: Path, *, port: int | None = None, ui: bool = False, patience: timedelta = timedelta(seconds=5)
) -> Settings:
    """Settings for a server of the test's own."""
    return Settings(data_dir=tmp_path / "data", port=port or free_port(), ui=ui, connect_timeout=patience)


def unused(folder: DataFolder) -> bool:
    """Whether nobody owns the database."""
    held = lock(folder.lock, fcntl.LOCK_EX)
    if held is not None:
        os.close(held)
    return held is not None
