"""Seeing to what waits for a human: ask at the terminal, approve what ``--yes`` covers, or find that nobody can.

A run that is followed from its beginning tells of requests that were decided long ago. Nothing is therefore asked
before all events that are there were read, and the history, read again, still has it waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from perdure.cli.ask import Desk
from perdure.cli.hints import how_to_decide
from perdure.cli.mail import Lifted, Mail, Said, Typed
from perdure.cli.screen import Screen
from perdure.cli.waiting import Asked, Waiting, lifted_by_yes, waiting_of
from perdure.client.client import Client
from perdure.contracts.approvals import Question, RequestedCall
from perdure.contracts.events import AnyEvent, StatusChanged
from perdure.contracts.requests import Approve

Need = list[Asked] | None
"""What waits for somebody who cannot be asked here; empty for a conversation that rests. None: go on."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How a run is followed.

    ``desk`` is where a person is asked, None when nobody can be. ``yes`` approves what policy asks. ``stops_turn``: the
    first Ctrl-C interrupts the turn. ``as_json`` writes events as lines of JSON instead of text. ``tools`` are those
    that whoever takes the run up has to bring.
    """

    actor: str
    desk: Desk | None = None
    yes: bool = False
    stops_turn: bool = False
    as_json: bool = False
    tools: tuple[str, ...] = ()


class Attendant:
    """Sees to what waits in one run. What a person says comes back through ``post``."""

    def __init__(
        self, client: Client, run_id: str, screen: Screen, conduct: Conduct, post: Callable[[Mail], None]
    ) -> None:
        self._client = client
        self._run_id = run_id
        self._screen = screen
        self._conduct = conduct
        self._post = post
        self._waiting = Waiting()
        self._handled: dict[str, Asked] = {}
        self._left: dict[str, Asked] = {}
        self._asking: asyncio.Task[None] | None = None
        self._asked: Asked | None = None
        self.idle = False

    def feed(self, event: AnyEvent) -> None:
        """Take in one event of the run."""
        self._waiting.feed(event)
        match event:
            case StatusChanged(path=()):
                self.idle = event.status == "idle"
            case _:
                pass
        self._withdraw()

    async def attend(self, quiet: Callable[[], bool]) -> Need:
        """See to what waits now; ``quiet`` says whether everything that came was read."""
        if not self._concerned():
            return None
        # What was sent while no worker ran may decide what waits: then an event tells when one has taken it in.
        state = await (await self._client.history(self._run_id)).foreseen()
        if state is None or not quiet():
            return None
        if self.idle:
            return self._rest() if state.status == "idle" else None
        return self._decide({asked.call_id for asked in waiting_of(state)})

    def stop(self) -> None:
        """Take back a question that stands at the terminal."""
        if self._asking is not None:
            self._asking.cancel()
            self.heard()

    def heard(self) -> None:
        """The question that stood at the terminal was answered: show what came meanwhile."""
        if self._asking is not None and self._asked is None:
            # The next message was typed: a run that has yet to take it in would look as if it rested.
            self.idle = False
        self._asking = self._asked = None
        self._screen.release()

    def leave(self, asked: Asked) -> None:
        """Leave waiting what the person was asked: once nothing else happens, the run is left."""
        self._left[asked.call_id] = asked
        if not self._all_left:
            self._screen.note(how_to_decide(self._run_id, [asked]))

    @property
    def only_people(self) -> bool:
        """Whether the run waits for people and for nothing else."""
        return self._waiting.stuck

    @property
    def _all_left(self) -> bool:
        asked = self._waiting.asked
        return self._waiting.stuck and all(self._left.get(call_id) is each for call_id, each in asked.items())

    def _concerned(self) -> bool:
        fresh = self._fresh()
        if any(map(self._lifted, fresh)) or self._all_left:
            return True
        ripe = self._conduct.desk is not None or self._waiting.stuck
        return self._asking is None and (self.idle or (bool(fresh) and ripe))

    def _fresh(self) -> list[Asked]:
        return [each for call_id, each in self._waiting.asked.items() if self._handled.get(call_id) is not each]

    def _lifted(self, asked: Asked) -> bool:
        return self._conduct.yes and lifted_by_yes(asked)

    def _decide(self, waiting: set[str]) -> Need:
        for_people: list[Asked] = []
        for each in self._fresh():
            if each.call_id not in waiting:
                continue
            if not self._lifted(each):
                for_people.append(each)
                continue
            self._handled[each.call_id] = each
            self._post(Lifted(approval(each, self._conduct.actor)))
        if self._conduct.desk is not None:
            if for_people and self._asking is None:
                self._ask(self._conduct.desk, for_people[0])
            left = [each for each in self._waiting.asked.values() if each.call_id in waiting]
            return left if self._all_left and left else None
        # A call that --yes approved has yet to run: leaving now would end the worker under it.
        nothing_else = self._waiting.stuck and not any(map(self._lifted, self._waiting.asked.values()))
        return for_people if for_people and nothing_else else None

    def _rest(self) -> Need:
        desk = self._conduct.desk
        if desk is None:
            return []

        async def listen() -> None:
            self._post(Typed(await desk.message()))

        self._start(listen())
        return None

    def _ask(self, desk: Desk, asked: Asked) -> None:
        self._handled[asked.call_id] = self._asked = asked

        async def listen() -> None:
            self._post(Said(asked, await desk.ask(asked)))

        self._start(listen())

    def _start(self, listening: Coroutine[object, object, None]) -> None:
        self._screen.hold()
        self._asking = asyncio.create_task(listening)

    def _withdraw(self) -> None:
        if self._asking is None:
            return
        if self._asked is not None and self._waiting.asked.get(self._asked.call_id) is not self._asked:
            self._screen.note("\nThat was decided elsewhere.")
            self.stop()
        elif self._asked is None and not self.idle:
            self._screen.note("\nThe conversation went on elsewhere.")
            self.stop()


def approval(asked: Asked, actor: str) -> Approve:
    """The approval of exactly the arguments that were asked about."""
    match asked:
        case RequestedCall():
            return Approve(call_id=asked.call_id, digest=asked.digest, reason="--yes", actor=actor)
        case Question():
            raise AssertionError("a question is answered, not approved")
