"""What one execution hands over to the next when its history has grown long."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from perdure.contracts.activities import Patience
from perdure.contracts.approvals import Grant
from perdure.contracts.instructions import AskHumans, RememberGrant
from perdure.contracts.record import Record
from perdure.contracts.state import State


class Continuation(Record):
    """Input of the execution that goes on: the whole state, and what the worker said of itself at the start.

    ``held`` is what others were still to be told when the execution before it ended.
    """

    kind: Literal["continuation"] = "continuation"
    state: State
    patience: Patience = Patience()
    search_attributes: bool = False
    notifications: bool = False
    held: tuple[Annotated[AskHumans | RememberGrant, Field(discriminator="kind")], ...] = ()


LARGEST_GRANT = 16 * 1024
"""Bytes of a grant that a book takes at most: a hand-over ends at 2 MB. A pattern says in less what it covers."""


class GrantPages(Record):
    """Input of the execution that goes on with a grant book.

    ``revoked`` says when grants were revoked, by id, so that a signal that comes late does not bring one back.
    """

    grants: tuple[Grant, ...] = ()
    revoked: dict[str, datetime] = {}
