"""Following a run: shows what it does, sees to what it asks, and knows when nothing more can come.

Everything that happens comes through one mailbox: events of the run, what the person said, Ctrl-C, failed orders. So a
question that is open never holds up an event, and each is handled whole before the next.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from perdure.cli.attend import Attendant, Conduct
from perdure.cli.exits import Code
from perdure.cli.hints import how_to_converse, how_to_decide, how_to_go_on, how_to_serve
from perdure.cli.lines import Span, Style
from perdure.cli.lull import Lull
from perdure.cli.mail import Arrived, Failed, Lifted, Mail, NoMore, Said, Signalled, Typed
from perdure.cli.render import Renderer
from perdure.cli.screen import Screen
from perdure.cli.signals import heard
from perdure.cli.text import one_line, taken
from perdure.client.client import Client
from perdure.client.delivery import KEPT
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.events import AnyEvent, RunClosed, TurnBegan, TurnEnded
from perdure.contracts.instructions import TurnEnd
from perdure.contracts.requests import Close, Interrupt, Order, Send


@dataclass(frozen=True, slots=True)
class Ending:
    """How following ended: the exit code, and what the person should do or know."""

    code: int
    hint: str = ""
    error: str = ""


class Follower:
    """Follows one run. Make one for each time. ``watch`` runs beside it: what it says is shown, and what it raises
    ends the following.
    """

    def __init__(
        self,
        client: Client,
        run_id: str,
        screen: Screen,
        conduct: Conduct,
        watch: Callable[[Callable[[str], None]], Coroutine[object, object, None]] | None = None,
        lull: Lull | None = None,
    ) -> None:
        self._watch = watch
        self._lull = lull or Lull()
        self._client = client
        self._run_id = run_id
        self._screen = screen
        self._conduct = conduct
        self._mailbox: asyncio.Queue[Mail] = asyncio.Queue()
        self._attendant = Attendant(client, run_id, screen, conduct, self._mailbox.put_nowait)
        self._renderer = Renderer()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn: int | None = None
        self._turns = 0
        self._end: TurnEnd | None = None
        self._stopping = False
        self._kept = False

    async def follow(self) -> Ending:
        """Follow until the run ends, rests, or waits for somebody who cannot be asked here.

        Raises RunNotFoundError, OperatorError.
        """
        self._beside(self._read())
        if self._watch is not None:
            self._beside(self._watch(self._alert))
        try:
            with heard(lambda number: self._mailbox.put_nowait(Signalled(number)), self._how_to_go_on()):
                while True:
                    ending = self._take(await self._next())
                    if ending is None and self._mailbox.empty() and not self._stopping:
                        ending = await self._attend()
                    if ending is not None:
                        return ending
        finally:
            self._attendant.stop()
            for task in self._tasks:
                task.cancel()

    async def _next(self) -> Mail:
        left = self._lull.left
        try:
            async with asyncio.timeout(left.total_seconds() if left else None):
                return await self._mailbox.get()
        except TimeoutError:
            self._alert(self._lull.word)
            self._lull.end()
        return await self._mailbox.get()

    async def _read(self) -> None:
        async for event in self._client.events(self._run_id):
            self._mailbox.put_nowait(Arrived(event))
        self._mailbox.put_nowait(NoMore())

    def _beside(self, work: Coroutine[object, object, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - raised again where the mail is taken
                self._mailbox.put_nowait(Failed(error))

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _take(self, mail: Mail) -> Ending | None:
        actor = self._conduct.actor
        match mail:
            case Arrived():
                return self._event(mail.event)
            case Said():
                self._attendant.heard()
                if mail.response is None:
                    self._attendant.leave(mail.asked)
                else:
                    self._order(mail.response)
            case Lifted():
                self._order(mail.approval)
            case Typed():
                self._attendant.heard()
                self._order(Send(message=mail.message, actor=actor) if mail.message else Close(actor=actor))
            case Signalled():
                return self._signalled(mail.number)
            case Failed():
                raise mail.error
            case NoMore():
                return Ending(Code.FAILED, error=f"the events of run {self._run_id} ended before the run did")
            case _:
                assert_never(mail)
        return None

    def _event(self, event: AnyEvent) -> Ending | None:
        self._attendant.feed(event)
        self._lull.feed(event, datetime.now(UTC))
        if self._conduct.as_json:
            self._screen.line(event.model_dump_json())
        else:
            self._screen.write(self._renderer.feed(event))
        match event:
            case TurnBegan(path=()):
                self._turn = event.turn
            case TurnEnded(path=()):
                self._turns, self._end, self._stopping = event.turn, event.end, False
            case RunClosed(path=()):
                return self._closed(event)
            case _:
                pass
        return None

    def _closed(self, event: RunClosed) -> Ending:
        total = f", {taken(event.usage, event.cost)}" if self._turns > 1 else ""
        interrupted = event.status == "completed" and self._end == "interrupted"
        last = " (last turn: interrupted)" if interrupted else ""
        self._show(f"run  {self._run_id} {event.status}{last}{total}", "strong")
        if event.status == "completed":
            return Ending(Code.INTERRUPTED if interrupted else Code.OUTPUT)
        why = event.failure.message if event.failure else ""
        if not why and self._end not in (None, event.status):
            why = f"its last turn ended {self._end}"
        said = "failed" if event.status == "failed" else "was canceled"
        known = not why or (why in self._renderer.failures and not self._conduct.as_json and self._screen.at_terminal)
        return Ending(Code.FAILED, error=f"run {self._run_id} {said}{'' if known else f': {one_line(why, 500)}'}")

    def _signalled(self, number: signal.Signals) -> Ending | None:
        if number == signal.SIGTERM:
            return Ending(128 + number, hint=self._how_to_go_on())
        # An interrupted turn would take with it what waits for a human.
        bystander = self._attendant.idle or self._attendant.only_people or not self._conduct.stops_turn
        if bystander or self._stopping:
            return Ending(Code.INTERRUPTED, hint=self._how_to_go_on())
        self._stopping = True
        self._attendant.stop()
        self._screen.write(self._renderer.end_line())
        self._screen.note("\nInterrupting the turn. Ctrl-C again leaves the run as it is.")
        self._order(Interrupt(turn=self._turn, actor=self._conduct.actor))
        return None

    async def _attend(self) -> Ending | None:
        need = await self._attendant.attend(self._mailbox.empty)
        if need is None:
            return None
        if need:
            return Ending(
                Code.WAITING,
                hint=f"{how_to_decide(self._run_id, need)}\n{how_to_go_on(self._run_id, self._conduct.tools)}",
            )
        return Ending(Code.OUTPUT, hint=how_to_converse(self._run_id))

    def _how_to_go_on(self) -> str:
        return how_to_go_on(self._run_id, self._conduct.tools)

    def _order(self, order: Order) -> None:
        async def give() -> None:
            try:
                receipt = await self._client.tell(self._run_id, order)
            except OrderRefusedError as error:
                self._screen.note(f"(no effect: {one_line(str(error), 500)})")
            else:
                if receipt.reason == KEPT and not self._kept:
                    self._kept = True
                    self._alert(f"{KEPT}\n{how_to_serve(self._run_id, self._conduct.tools)}")

        self._beside(give())

    def _alert(self, line: str) -> None:
        if not self._conduct.as_json:
            self._screen.write(self._renderer.end_line())
        self._screen.note(line, "alert")

    def _show(self, line: str, style: Style) -> None:
        """Show a line below what the run said; beside the events when those are for a program."""
        if self._conduct.as_json:
            self._screen.note(line, style)
        else:
            self._screen.write((*self._renderer.end_line(), Span(line + "\n", style)))
