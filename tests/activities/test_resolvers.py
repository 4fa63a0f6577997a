from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure.activities.resolvers import PolicyContext, Resolvers, load_resolvers
from perdure.authority.policy import Resolution
from perdure.authority.resolvers import Consultation
from perdure.contracts.activities import JudgeRequest
from perdure.contracts.errors import InvalidSettingsError

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
REQUEST = JudgeRequest(
    run_id="r1", calls=(), tools=(), at=NOON, agent="clerk", user="ada", mode="auto", humans="none", workspace="/work"
)
QUESTION = Consultation("a:f", "t1s1c1", "write_note", {"text": "x"})


async def answer(function: Callable[..., Any], *, deadline: timedelta = timedelta(seconds=5)) -> Resolution:
    said = await Resolvers({"a:f": function}, deadline=deadline).resolve([QUESTION], REQUEST)
    return said["t1s1c1"]["a:f"]


async def test_a_resolver_is_told_the_tool_the_arguments_and_the_run() -> None:
    told: list[Any] = []

    def remember(tool: str, arguments: dict[str, Any], context: PolicyContext) -> str:
        told.extend((tool, arguments, context, threading.current_thread().name))
        return "allow"

    assert await answer(remember) == Resolution(word="allow")
    context = PolicyContext("r1", "t1s1c1", "clerk", "ada", "auto", "none", "/work", NOON)
    assert told == ["write_note", {"text": "x"}, context, "resolver a:f"]


@pytest.mark.parametrize("said", ["never", "", None, True, 3, ["allow"]])
async def test_what_is_no_policy_word_says_nothing(said: object) -> None:
    resolution = await answer(lambda *_: said)
    assert resolution.word is None
    assert resolution.problem == f"it said {str(said)[:40]!r}"


class Odd:
    """A value that can be neither compared nor shown."""

    __hash__ = None  # type: ignore[assignment]  # what cannot be compared has no hash

    def __eq__(self, other: object) -> bool:
        raise TypeError

    def __str__(self) -> str:
        raise TypeError


def fails(*_: Any) -> str:
    raise RuntimeError("sk-canary")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (fails, r"it raised RuntimeError at test_resolvers\.py:\d+"),
        (lambda *_: Odd(), r"it raised TypeError at test_resolvers\.py:\d+"),
        (lambda *_: threading.Event().wait(1), r"it took longer than 0\.02 s"),
    ],
)
async def test_a_resolver_that_fails_or_is_slow_says_nothing(function: Callable[..., Any], why: str) -> None:
    resolution = await answer(function, deadline=timedelta(milliseconds=20))
    assert resolution.word is None
    assert re.fullmatch(why, resolution.problem)


async def test_a_resolver_that_the_settings_do_not_list_is_not_looked_for() -> None:
    said = await Resolvers().resolve([Consultation("os:getcwd", "t1s1c1", "write_note", {})], REQUEST)
    assert said == {"t1s1c1": {"os:getcwd": Resolution(problem="this worker's settings do not list it")}}


async def test_all_are_asked_at_once() -> None:
    together = threading.Barrier(3)

    def meet(*_: Any) -> str:
        together.wait(timeout=10)
        return "ask"

    questions = [Consultation("a:f", f"t1s1c{number}", "write_note", {}) for number in (1, 2)]
    answered = asyncio.create_task(Resolvers({"a:f": meet}).resolve(questions, REQUEST))
    await asyncio.to_thread(together.wait, 10)
    assert set(await answered) == {"t1s1c1", "t1s1c2"}


CODE = """
from perdure.activities.resolvers import PolicyContext

def decide(tool: str, arguments: dict, context: PolicyContext) -> str:
    return "deny"

async def later(tool, arguments, context):
    return "deny"

def short(tool):
    return "deny"

word = "deny"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "rules.py"
    made.write_text(CODE)
    return made


async def test_a_resolver_is_known_by_the_path_that_leads_to_it(file: Path) -> None:
    path = f"{file}:decide"
    resolvers = load_resolvers([path])
    assert resolvers.names == (path,)
    said = await resolvers.resolve([Consultation(path, "t1s1c1", "write_note", {})], REQUEST)
    assert said["t1s1c1"][path] == Resolution(word="deny")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "has no plain function 'missing'"),
        ("later", "has no plain function 'later'"),
        ("word", "has no plain function 'word'"),
        ("short", r"short must take \(tool, arguments, context\)"),
    ],
)
def test_what_is_no_resolver_is_refused_at_the_start(file: Path, name: str, said: str) -> None:
    with pytest.raises(InvalidSettingsError, match=said):
        load_resolvers([f"{file}:{name}"])


@pytest.mark.parametrize("path", ["rules", "rules.py", ":f", "no_such_module:f", "no_such_file.py:f"])
def test_a_path_that_leads_nowhere_is_told(path: str) -> None:
    with pytest.raises(InvalidSettingsError, match=r"^Resolver path "):
        load_resolvers([path])
