"""Reading files that people name: only regular ones, and no more than was agreed.

A pipe that nobody writes to blocks for ever, a device never ends, and a large file fills the memory before its size can
be refused.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_bounded(file: Path, most: int) -> bytes:
    """The bytes of ``file``, or its first ``most`` + 1 when it has more. Raises OSError, also for no regular file."""
    mode = file.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(file))
    with file.open("rb") as opened:
        return opened.read(most + 1)
