"""What one execution hands over to the next when its history has grown long."""

from __future__ import annotations

from typing import Literal

from perdure.contracts.activities import Patience
from perdure.contracts.approvals import Grant
from perdure.contracts.record import Record
from perdure.contracts.state import State


class Continuation(Record):
    """Input of the execution that goes on: the whole state, and what the worker said of itself at the start."""

    kind: Literal["continuation"] = "continuation"
    state: State
    patience: Patience = Patience()
    search_attributes: bool = False
    notifications: bool = False


class GrantPages(Record):
    """Input of the execution that goes on with a grant book. ``revoked`` are ids that no late signal brings back."""

    grants: tuple[Grant, ...] = ()
    revoked: tuple[str, ...] = ()
