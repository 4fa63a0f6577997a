"""How long a model may say nothing before whoever watches is told that it does.

A connection that is kept open by comments alone, a long thought and a long call look alike from here: nothing comes.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from perdure.contracts.events import AnyEvent, ModelAnswered, ModelCalled, ModelGaveUp, Retrying, TextArrived, TurnEnded
from perdure.contracts.names import CALL_MODEL

BEARABLE = timedelta(seconds=30)


class Lull:
    """Feed it every event. ``bearable`` is what a person waits without a word; a wait that was told comes on top."""

    def __init__(self, bearable: timedelta = BEARABLE) -> None:
        self._bearable = bearable
        self.left: timedelta | None = None

    @property
    def word(self) -> str:
        """What is said when nothing came for so long."""
        lasted = f"{self._bearable.total_seconds():g} s"
        return f"(nothing to show from the model for {lasted}: it may be thinking, or writing a call)"

    def feed(self, event: AnyEvent, now: datetime) -> None:
        """Take in one event. ``left`` is then how long the next one may take; None: as long as it likes."""
        match event:
            case ModelCalled() | TextArrived():
                self.left = self._bearable
            case Retrying(activity=activity) if activity == CALL_MODEL:
                self.left = self._bearable + max(event.until - now, timedelta(0)) if event.until else self._bearable
            case ModelAnswered() | ModelGaveUp() | TurnEnded():
                self.left = None
            case _:
                pass

    def end(self) -> None:
        """It was told: once is enough until the model says something."""
        self.left = None
