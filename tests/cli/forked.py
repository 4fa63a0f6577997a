"""A process that is ``perdure``, forked off a server that has loaded its modules: loading them is most of its work.

Everything else is as when it is started by its name: arguments, environment, working folder, a terminal that controls
it, signals, and the end without Python's teardown.
"""

from __future__ import annotations

import fcntl
import os
import sys
import termios
from multiprocessing.connection import Connection

from perdure.cli import main


def become(
    arguments: list[str], folder: str, environment: dict[str, str], terminal: str, taken: Connection[None, None]
) -> None:
    """Be ``perdure`` at ``terminal``; say on ``taken`` once it is ours. Does not return."""
    os.setsid()
    descriptor = os.open(terminal, os.O_RDWR)
    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)
    for standard in range(3):
        os.dup2(descriptor, standard)
    os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", buffering=1), open(2, "w", buffering=1)  # noqa: SIM115 - they are to stay open
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["perdure", *arguments]
    taken.send(None)
    taken.close()
    main()
