"""What every model provider is to the rest of Perdure: one method that streams an answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from perdure.contracts.prompts import ModelRequest
from perdure.providers.stream import Piece


class Provider(Protocol):
    """A model behind one interface, whoever serves it."""

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        """The answer to ``request``, piece by piece; a whole answer holds one `FinishPiece`.

        ``attempt`` counts from 1 and is for providers that play a script; the others ask the same thing again. Nothing
        is retried here: whoever calls decides. Leaving the iteration early needs ``aclose()`` (`contextlib.aclosing`),
        which ends the request at the provider.

        Raises UnsupportedCapabilityError for what the model is known to lack, before anything is sent, and
        KeyMissingError for an MCP server's key; besides these only `ProviderError` and its kinds, and
        ``asyncio.CancelledError``.
        """
        ...
