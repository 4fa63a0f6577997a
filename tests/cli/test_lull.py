from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from perdure.cli.attend import Conduct
from perdure.cli.follow import Follower
from perdure.cli.lull import BEARABLE, Lull
from perdure.cli.screen import Screen
from perdure.client.client import Client
from perdure.contracts.events import AnyEvent, ModelGaveUp, Position, Retrying, RunClosed, TurnEnded
from perdure.contracts.failures import Failure
from tests.cli.happenings import NOON, answered, ended, model_called, piece, started

GAVE_UP = ModelGaveUp(message_id="t1s1", failure=Failure(kind="timeout", message="late"))


def left(*events: AnyEvent) -> timedelta | None:
    lull = Lull()
    for event in events:
        lull.feed(event, NOON)
    return lull.left


@pytest.mark.parametrize(
    "event", [model_called(), piece("a"), Retrying(activity="call_model", attempt=2, reason="busy")]
)
def test_a_model_that_is_asked_or_speaks_is_waited_for(event: AnyEvent) -> None:
    assert left(event) == BEARABLE


def test_a_wait_that_was_told_comes_on_top() -> None:
    waits = Retrying(activity="call_model", attempt=2, reason="busy", until=NOON + timedelta(seconds=100))
    assert left(waits) == BEARABLE + timedelta(seconds=100)
    past = waits.model_copy(update={"until": NOON - timedelta(seconds=5)})
    assert left(past) == BEARABLE


@pytest.mark.parametrize("event", [answered("a"), GAVE_UP, TurnEnded(turn=1, end="interrupted")])
def test_nothing_is_awaited_of_a_model_that_has_ended(event: AnyEvent) -> None:
    assert left(model_called(), event) is None


@pytest.mark.parametrize(
    "event", [started("t1s1c1"), ended("t1s1c1"), Retrying(activity="fetch", attempt=2, reason="")]
)
def test_what_is_no_words_of_a_model_changes_nothing(event: AnyEvent) -> None:
    assert left(event) is None
    assert left(model_called(), event) == BEARABLE


class Watched(io.StringIO):
    """A stream that tells when ``awaited`` has been written to it."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self.said = asyncio.Event()
        self._awaited = awaited

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._awaited in self.getvalue():
            self.said.set()
        return written


class Mute(Client):
    """A run whose model says nothing until that is told."""

    def __init__(self, told: asyncio.Event) -> None:
        self._told = told

    async def events(self, run_id: str, *, after: Position | None = None, live: bool = True) -> AsyncIterator[AnyEvent]:
        yield model_called()
        await self._told.wait()
        yield answered("Here.")
        yield RunClosed(status="completed", output="Here.")


async def test_whoever_follows_is_told_once_that_a_model_says_nothing() -> None:
    out, err = io.StringIO(), Watched("nothing to show")
    lull = Lull(timedelta(milliseconds=1))
    follower = Follower(Mute(err.said), "run", Screen(out, err), Conduct("ana"), lull=lull)
    async with asyncio.timeout(10):
        await follower.follow()
    assert err.getvalue().count("(nothing to show from the model for 0.001 s") == 1
    assert "Here." in out.getvalue()
