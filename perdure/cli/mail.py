"""What can happen while a run is followed, beside its events; all of it comes through one mailbox."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from perdure.cli.ask import Response
from perdure.cli.waiting import Asked
from perdure.contracts.events import AnyEvent
from perdure.contracts.requests import Approve


@dataclass(frozen=True, slots=True)
class Arrived:
    """An event of the run."""

    event: AnyEvent


@dataclass(frozen=True, slots=True)
class Said:
    """What a person said of something that waits; None leaves it waiting."""

    asked: Asked
    response: Response | None


@dataclass(frozen=True, slots=True)
class Lifted:
    """What ``--yes`` says of a call."""

    approval: Approve


@dataclass(frozen=True, slots=True)
class Typed:
    """The next message of a conversation; None closes it."""

    message: str | None


@dataclass(frozen=True, slots=True)
class Signalled:
    """Ctrl-C, or a request to end."""

    number: signal.Signals


@dataclass(frozen=True, slots=True)
class Failed:
    """Something that ran beside failed."""

    error: Exception


@dataclass(frozen=True, slots=True)
class NoMore:
    """The events came to their end."""


Mail = Arrived | Said | Lifted | Typed | Signalled | Failed | NoMore
