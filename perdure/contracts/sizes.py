"""How large a start request or an order may be, as JSON.

The server takes inputs of up to 2 MB; what is larger by then fails a workflow task again and again: so we refuse what
could grow to that on its way. A message stands in the history once and travels by reference; what else people say
is passed on and repeated. Only an update of another client of more than 2 MB is beyond us: the SDK of the worker sends
each update back with its answer, and fails the task over it until the server has given the update up.
"""

from __future__ import annotations

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.requests import Cancel, Order, RunRequest

LARGEST_MESSAGE = 1_500_000
"""Bytes of a start request, or of a message with its attachments (in base64, four thirds of their bytes)."""

LARGEST_ORDER = 250_000
"""Bytes of any other order."""


def check_size(written: Order | Cancel | RunRequest) -> None:
    """Raise InvalidInputError for what no run takes."""
    carries_message = isinstance(written, RunRequest) or written.kind in ("send", "edit")
    most = LARGEST_MESSAGE if carries_message else LARGEST_ORDER
    size = len(written.model_dump_json().encode())
    if size <= most:
        return
    what = "start request" if isinstance(written, RunRequest) else written.kind
    instead = " Put large things into the workspace, or attach addresses." if carries_message else ""
    raise InvalidInputError(f"The {what} is too large together: {size:,} bytes as JSON, at most {most:,}.{instead}")
