"""The adapter for OpenAI's Responses protocol, at OpenAI and at every server that speaks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from urllib.parse import urlsplit

import httpx

from perdure.contracts.prompts import ModelRequest
from perdure.providers.admission import Admission
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.chat_encoding import tool_names
from perdure.providers.completion import whole
from perdure.providers.connection import connect
from perdure.providers.dialects import Dialect
from perdure.providers.http import Reply
from perdure.providers.openai_responses_decoding import ResponsesDecoder
from perdure.providers.openai_responses_encoding import encode
from perdure.providers.own_prices import priced
from perdure.providers.payloads import Done, payloads
from perdure.providers.stream import CallPiece, Piece

DRAIN = 0.5
"""Seconds for the connection to end by itself after the last event, so that it can be used again."""


class ResponsesProvider:
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

        ``environ`` is where the keys of MCP servers are.
        """
        self.name = name
        self.origin = f"openai-responses:{urlsplit(endpoint.base_url).hostname}"
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
        keys = self._admission.server_keys(request.hosted)
        names = tool_names(request)
        body = encode(request, dialect, provider=self.name, origin=self.origin, names=names, keys=keys)
        async with (
            self._http.post("/responses", body, secrets=tuple(keys.values())) as reply,
            aclosing(decoded(reply, dialect, self.origin, request.max_output_tokens)) as pieces,
        ):
            async for piece in pieces:
                yield replace(piece, name=names.ours(piece.name)) if isinstance(piece, CallPiece) else piece


async def decoded(reply: Reply, dialect: Dialect, origin: str, limit: int | None = None) -> AsyncGenerator[Piece, None]:
    """The pieces of one reply, with tool names as the server knows them. Raises ProviderError."""
    decoder = ResponsesDecoder(reply, dialect, origin, limit)

    def patience() -> float | None:
        return DRAIN if decoder.finished else None

    async with aclosing(payloads(reply, patience)) as values:
        async for value in values:
            if not isinstance(value, Done):
                for piece in decoder.feed(value):
                    yield piece
