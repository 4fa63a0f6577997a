"""The adapter for Google Gemini's generateContent, at Google's address or any other that speaks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from urllib.parse import urlsplit

import httpx

from perdure.contracts.prompts import ModelRequest
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.completion import whole
from perdure.providers.gemini_decoding import GeminiDecoder
from perdure.providers.gemini_encoding import encode, path, tool_names
from perdure.providers.http import Http, Reply
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
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """``name`` is the provider's name in ``provider:model``; ``key`` is sent in the endpoint's header, if any.

        The key never goes into the address, as ``?key=``, since addresses are logged.
        """
        settings = settings or ProviderSettings()
        self.name = name
        self.origin = f"gemini:{urlsplit(endpoint.base_url).hostname}"
        self._dialect = endpoint.spoken()
        bearer = endpoint.key_header.lower() == "authorization"
        self._http = Http(
            name,
            endpoint.base_url,
            {endpoint.key_header: f"Bearer {key}" if bearer else key} if key else {},
            secrets=(key,) if key else (),
            connect_timeout=settings.connect_timeout,
            read_timeout=settings.read_timeout,
            transport=transport,
        )

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        """The answer, piece by piece; see `Provider.stream`."""
        return whole(self.name, self._pieces(request))

    async def close(self) -> None:
        """End the kept connections."""
        await self._http.close()

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        names = tool_names(request)
        body = encode(request, self._dialect, provider=self.name, origin=self.origin, names=names)
        async with (
            self._http.post(path(request.model), body) as reply,
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
