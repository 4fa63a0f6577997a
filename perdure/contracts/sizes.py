"""How large a start request or an order may be, as JSON.

The server takes an input of up to 2 MB, and an update of more: one that a run cannot pass on fails its workflow task
for ever. A message stands in the history once and travels by reference; what else people say is passed on and repeated.
"""

from __future__ import annotations

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.requests import Order, RunRequest

LARGEST_MESSAGE = 1_500_000
"""Bytes of a start request, or of a message with its attachments (in base64, four thirds of their bytes)."""

LARGEST_ORDER = 250_000
"""Bytes of any other order."""


def check_size(written: Order | RunRequest) -> None:
    """Raise InvalidInputError for what no run takes."""
    carries_message = isinstance(written, RunRequest) or written.kind in ("send", "edit")
    most = LARGEST_MESSAGE if carries_message else LARGEST_ORDER
    size = len(written.model_dump_json().encode())
    if size <= most:
        return
    what = "start request" if isinstance(written, RunRequest) else written.kind
    instead = " Put large things into the workspace, or attach addresses." if carries_message else ""
    raise InvalidInputError(f"The {what} is too large together: {size:,} bytes as JSON, at most {most:,}.{instead}")
