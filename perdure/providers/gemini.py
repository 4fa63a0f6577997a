"""The adapter for Google Gemini's generateContent, at Google's address or any other that speaks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from urllib.parse import urlsplit

import httpx

from perdure.contracts.prompts import ModelRequest
from perdure.providers.admission import Admission
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.completion import whole
from perdure.providers.connection import connect
from perdure.providers.gemini_decoding import GeminiDecoder
from perdure.providers.gemini_encoding import encode, path, tool_names
from perdure.providers.http import Reply
from perdure.providers.own_prices import priced
from perdure.providers.payloads import Payload, payloads
from perdure.providers.stream import CallPiece, Piece

LINGER = 2.0
"""Seconds that usage or sources may come after the finish; a server that keeps the connection open holds nobody up."""


class GeminiProvider:
    """One server's models. Connections are kept between calls; `close` ends them."""

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        key: str = "",
        settings: ProviderSettings | None = None,
        environ: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """``name`` is the provider's name in ``provider:model``; ``key`` is sent in the endpoint's header, if any.

        ``environ`` says which providers are configured. The key never goes into the address, as ``?key=``, since
        addresses are logged.
        """
        self.name = name
        self.origin = f"gemini:{urlsplit(endpoint.base_url).hostname}"
        self._prices = (settings or ProviderSettings()).prices
        self._admission = Admission(name, endpoint, settings, environ)
        self._http = connect(name, endpoint, key=key, settings=settings, transport=transport)

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        """The answer, piece by piece; see `Provider.stream`."""
        return whole(self.name, priced(self._pieces(request), request.model, self._prices))

    async def close(self) -> None:
        """End the kept connections."""
        await self._http.close()

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        request = self._admission.admit(request)
        dialect = self._admission.dialect(request.model)
        names = tool_names(request)
        body = encode(request, dialect, provider=self.name, origin=self.origin, names=names)
        async with (
            self._http.post(path(request.model, "streamGenerateContent?alt=sse"), body) as reply,
            aclosing(decoded(reply, self.origin)) as pieces,
        ):
            async for piece in pieces:
                yield replace(piece, name=names.ours(piece.name)) if isinstance(piece, CallPiece) else piece


async def decoded(reply: Reply, origin: str) -> AsyncGenerator[Piece, None]:
    """The pieces of one reply, with tool names as the server knows them. Raises ProviderError."""
    decoder = GeminiDecoder(reply, origin)

    def patience() -> float | None:
        return LINGER if decoder.finished else None

    async with aclosing(payloads(reply, patience)) as values:
        async for value in values:
            # Google never says ``[DONE]``; a gateway that does adds nothing by it.
            if isinstance(value, Payload):
                for piece in decoder.feed(value):
                    yield piece
    for piece in decoder.end():
        yield piece
