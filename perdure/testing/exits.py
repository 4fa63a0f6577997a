"""A pytest plugin that leaves the test process as soon as pytest is done.

A process that held a Temporal client and a worker crashes in about one of five exits (status 134 or 139), after all
work is done: native threads of the SDK call into an interpreter that is being torn down. The status of the tests would
be lost with it. So when pytest has done everything (reports, closing line, clean-up), the functions registered with
atexit run, the streams are flushed and the process ends without the teardown; threads that still run do not hold it up.

Load it from the top conftest, ``pytest_plugins = ["perdure.testing.exits"]``, or with ``-p perdure.testing.exits``. It
is for processes that pytest owns: a program that calls ``pytest.main`` would not get its answer. ``coverage run`` needs
``patch = _exit``; pytest-cov needs nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Generator
from typing import NoReturn

import pytest

Status = int | pytest.ExitCode | None


# Around all others: what other plugins do at the end, and pytest's own clean-up, lies before it.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Status, Status]:
    """End the process with pytest's exit status; a worker process of pytest-xdist is left to its controller."""
    status = yield
    if status is None or hasattr(config, "workerinput"):
        return status
    leave(int(status))


def leave(status: int) -> NoReturn:
    """Run what was registered with atexit, flush the standard streams, and end the process with ``status``."""
    try:
        atexit._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
