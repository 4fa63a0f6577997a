"""Real servers and worker processes for the tests: fixtures that start them, and end exactly what they started.

Without a fixed pause anywhere: whoever waits asks the process or the server, and gives up at a deadline with what the
process had said.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from perdure.contracts.names import SEARCH_ATTRIBUTES
from perdure.worker.converter import data_converter

ROOT = Path(__file__).parent.parent
DEADLINE = 60.0
"""Seconds that anything here waits at most: the machine may be busy, a test must not hang."""


def binary(name: str) -> str:
    """The path of a program that came with a development dependency. Fails when it is not installed."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    assert found, f"{name} is not installed: make test sets it up"
    return found


def free_port() -> int:
    """A port that was free on the loopback interface just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def outside() -> dict[str, str]:
    """The environment without what would change a test from outside: settings of ours and keys of providers."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PERDURE_") and not name.endswith("_API_KEY")
    }


@pytest.fixture
def foreign_port() -> Iterator[int]:
    """The port of a program that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield int(listener.getsockname()[1])


class OwnedProcess:
    """A child process in its own process group, whose output can be awaited. End it with `stop` or `kill`.

    Its environment is `outside` and then ``environment``.
    """

    def __init__(
        self, command: Sequence[str], *, environment: Mapping[str, str] | None = None, folder: Path = ROOT
    ) -> None:
        self.lines: list[str] = []
        self._arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**outside(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as stream:
            for line in stream:
                self.lines.append(line.rstrip("\n"))
                self._arrived.put(line)
        self._arrived.put(None)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        """Everything that the process has said so far, both streams."""
        return "\n".join(self.lines)

    def until(self, text: str, *, deadline: float = DEADLINE) -> str:
        """Wait for a line that holds ``text`` and return it; each line is seen once. Fails when the process ends."""
        end = time.monotonic() + deadline
        while True:
            try:
                line = self._arrived.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no line with {text!r} after {deadline} s; it said:\n{self.output}") from None
            assert line is not None, f"the process ended without a line with {text!r}; it said:\n{self.output}"
            if text in line:
                return line.rstrip("\n")

    def wait(self, *, deadline: float = DEADLINE) -> int:
        """Wait until the process has ended and return its exit status (negative: the signal's number)."""
        status = self._process.wait(deadline)
        self._reader.join(deadline)
        return status

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process itself, not to its group."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill -9 the process and its group, and collect it. Harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()

    def stop(self, *, deadline: float = DEADLINE) -> int:
        """Ask the process to end (SIGTERM), wait, and return its exit status."""
        if self.alive():
            self.signal(signal.SIGTERM)
        return self.wait(deadline=deadline)


def answering(address: str, process: OwnedProcess, *, deadline: float = DEADLINE) -> None:
    """Wait until the server at ``address`` serves the namespace ``default``. Fails when ``process`` ends before."""

    async def asked() -> None:
        end = time.monotonic() + deadline
        while True:
            try:
                client = await Client.connect(address)
                await client.count_workflows("")
                return
            except (RuntimeError, RPCError) as error:
                if time.monotonic() > end or not process.alive():
                    raise AssertionError(f"no server at {address}; it said:\n{process.output}") from error
                await asyncio.sleep(0.05)

    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(asyncio.run, asked()).result()


async def eventually(condition: Callable[[], bool], *, deadline: float = DEADLINE) -> None:
    """Wait until ``condition`` holds, for what can only be looked at. Fails at the deadline."""
    async with asyncio.timeout(deadline):
        while not condition():  # noqa: ASYNC110 - what is looked at (a file, another process) sets no event
            await asyncio.sleep(0.02)


@contextlib.contextmanager
def running_server(*options: str) -> Iterator[str]:
    """A real Temporal server in memory, with our search attributes, for the time of a block; gives its address."""
    port = free_port()
    attributes = [f"--search-attribute={name}=Keyword" for name in SEARCH_ATTRIBUTES]
    server = OwnedProcess(
        [
            binary("temporal"),
            *("server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port), "--log-level", "error"),
            *attributes,
            *options,
        ]
    )
    try:
        address = f"127.0.0.1:{port}"
        answering(address, server)
        yield address
    finally:
        server.kill()


@pytest.fixture(scope="session")
def dev_server() -> Iterator[str]:
    """The address of a real Temporal server in memory; one per test session."""
    with running_server() as address:
        yield address


@pytest.fixture
async def temporal_client(dev_server: str) -> Client:
    """A client of the session's server with our data converter."""
    return await Client.connect(dev_server, data_converter=data_converter())


@pytest.fixture
async def time_skipping() -> AsyncIterator[WorkflowEnvironment]:
    """A server whose clock jumps to the next timer while a result is awaited. It has no schedules and no lists."""
    environment = await WorkflowEnvironment.start_time_skipping(
        data_converter=data_converter(), test_server_existing_path=binary("temporal-test-server")
    )
    async with environment:
        yield environment


async def recorded(client: Client, run_id: str) -> bytes:
    """All that the run's history holds, payloads as they are: as JSON a history has them in base64."""
    history = await client.get_workflow_handle(run_id).fetch_history()
    return b"".join(event.SerializeToString() for event in history.events)


def unique(prefix: str = "test") -> str:
    """A name that nothing else uses, for a task queue or a run."""
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def task_queue() -> str:
    """A task queue of the test's own."""
    return unique("queue")


StartProcess = Callable[..., OwnedProcess]


@pytest.fixture
def start_process() -> Iterator[StartProcess]:
    """Start a Python process: ``start_process("-m", "perdure.worker", environment={…})``; killed after the test."""
    started: list[OwnedProcess] = []

    def start(*arguments: str, environment: Mapping[str, str] | None = None, folder: Path = ROOT) -> OwnedProcess:
        process = OwnedProcess([sys.executable, *arguments], environment=environment, folder=folder)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()


StartWorker = Callable[..., OwnedProcess]


@pytest.fixture
def start_worker(start_process: StartProcess, dev_server: str, task_queue: str, tmp_path: Path) -> StartWorker:
    """Start ``python -m perdure.worker`` on the session's server and the test's task queue, in the folder ``tmp_path``.

    Settings are given as keywords, ``start_worker(model="scripted:reply.json")``. ``.until('"ready"')`` waits for it,
    ``.kill()`` is a kill -9; starting again is a restart.
    """

    def start(
        *, environment: Mapping[str, str] | None = None, folder: Path = tmp_path, **settings: str
    ) -> OwnedProcess:
        given = {"address": dev_server, "task_queue": task_queue, **settings}
        variables = {f"PERDURE_{name.upper()}": value for name, value in given.items()}
        # No settings file of whoever runs the tests.
        variables["XDG_CONFIG_HOME"] = str(tmp_path / "config")
        return start_process("-m", "perdure.worker", environment={**variables, **(environment or {})}, folder=folder)

    return start
