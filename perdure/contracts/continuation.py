"""What one execution of a run hands over to the next when its history has grown long."""

from __future__ import annotations

from typing import Literal

from perdure.contracts.activities import Patience
from perdure.contracts.record import Record
from perdure.contracts.state import State


class Continuation(Record):
    """Input of the execution that goes on: the whole state, and what the worker said of itself at the start."""

    kind: Literal["continuation"] = "continuation"
    state: State
    patience: Patience = Patience()
    search_attributes: bool = False
    notifications: bool = False
