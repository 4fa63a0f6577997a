"""Leaving a process that held a Temporal client and a worker.

The trap: one in five of them crashes at exit (status 134 or 139), after all work is done: native threads of the SDK
call into an interpreter that is being torn down. So the streams are flushed, and the process ends without teardown.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import NoReturn


def leave(status: int) -> NoReturn:
    """Flush logs and standard streams and end the process with ``status``; nothing registered for exit runs."""
    with contextlib.suppress(OSError, ValueError):
        logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)
