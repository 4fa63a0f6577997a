"""A pytest plugin for those who write agents and tools: load it with ``pytest_plugins = ["perdure.testing.plugin"]``.

A test that fails shows the transcript of every run that it made with ``run_agent``.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import pytest

from perdure.contracts.agent import AgentSpec
from perdure.contracts.requests import RunRequest
from perdure.providers.scripted import Script
from perdure.testing.engine import run_in_process
from perdure.testing.orders import Planned
from perdure.testing.record import RunRecord, shown
from perdure.testing.script import Line, save, script

_RUNS: pytest.StashKey[list[RunRecord]] = pytest.StashKey()


class SaveScript(Protocol):
    """Writes a script for a model that another process plays; the name of that model."""

    def __call__(self, *lines: Line, repeat_last: bool = False) -> str: ...


class RunAgent(Protocol):
    """Runs an agent in this process, as `perdure.testing.engine.run_in_process` does, and waits for it."""

    def __call__(
        self,
        asked: RunRequest | str,
        played: Script,
        /,
        *,
        tools: Iterable[Callable[..., Any]] = (),
        agents: Iterable[AgentSpec | Path] = (AgentSpec(),),
        orders: Sequence[Planned] = (),
        partly: bool = False,
    ) -> RunRecord: ...


@pytest.fixture
def perdure_script(tmp_path: Path) -> SaveScript:
    """Save a script in the test's own folder: ``model = perdure_script(asks("add", a=1), says("Done."))``."""
    count = 0

    def saved(*lines: Line, repeat_last: bool = False) -> str:
        nonlocal count
        count += 1
        return save(script(*lines, repeat_last=repeat_last), tmp_path / f"script-{count}.json")

    return saved


@pytest.fixture
def run_agent(request: pytest.FixtureRequest) -> RunAgent:
    """Run an agent in this process: ``run = run_agent("What is 1 + 1?", script(…), tools=[add])``.

    It has an event loop of its own, so that plain and asynchronous tests call it alike.
    """
    runs = request.node.stash.setdefault(_RUNS, [])

    def run(
        asked: RunRequest | str,
        played: Script,
        /,
        *,
        tools: Iterable[Callable[..., Any]] = (),
        agents: Iterable[AgentSpec | Path] = (AgentSpec(),),
        orders: Sequence[Planned] = (),
        partly: bool = False,
    ) -> RunRecord:
        work = run_in_process(asked, script=played, tools=tools, agents=agents, orders=orders, partly=partly)
        with ThreadPoolExecutor(1) as elsewhere:
            record = elsewhere.submit(contextvars.copy_context().run, asyncio.run, work).result()
        runs.append(record)
        return record

    return run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the transcripts of the test's runs to the report of its failure."""
    report = yield
    runs: list[RunRecord] = item.stash.get(_RUNS, [])
    if report.when == "call" and report.failed:
        for number, run in enumerate(runs, 1):
            report.sections.append((f"transcript of run {number} ({run.status})", shown(run.messages)))
    return report
