"""Writing a file whole: a reader, or a worker that dies meanwhile, sees the old one or the new one and never half."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path


def replace_file(place: Path, data: bytes) -> None:
    """Make ``data`` the content of ``place``, which keeps its permissions. Its folder must be there. Raises OSError."""
    new = place.parent / f".perdure-{secrets.token_hex(8)}.tmp"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "wb") as file:
            if place.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(place.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(place)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
