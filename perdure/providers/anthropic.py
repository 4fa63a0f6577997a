"""The adapter for Anthropic's Messages protocol and every server that speaks it, at any base URL."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from perdure.contracts.prompts import ModelRequest
from perdure.providers.admission import Admission
from perdure.providers.anthropic_decoding import MessagesDecoder
from perdure.providers.anthropic_encoding import continued, encode
from perdure.providers.anthropic_usage import Tally
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.chat_encoding import tool_names
from perdure.providers.completion import whole
from perdure.providers.connection import connect
from perdure.providers.hosted_tools import anthropic_betas
from perdure.providers.http import Reply
from perdure.providers.payloads import Done, payloads
from perdure.providers.stream import CallPiece, Piece

VERSION = "2023-06-01"
"""The protocol's version, which every request names."""

MOST_CONTINUATIONS = 8
"""How often at most a paused answer is continued; each time is a request of its own, which costs."""

DRAIN = 0.5
"""Seconds for the connection to end by itself after the last event, so that it can be used again."""


class AnthropicProvider:
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
        self.origin = f"anthropic:{urlsplit(endpoint.base_url).hostname}"
        self._prices = (settings or ProviderSettings()).prices
        self._admission = Admission(name, endpoint, settings, environ)
        version = {"anthropic-version": VERSION}
        self._http = connect(name, endpoint, key=key, settings=settings, transport=transport, headers=version)

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        """The answer, piece by piece; see `Provider.stream`.

        An answer that the provider pauses (``pause_turn``: a tool of its own takes long) is continued here, at most
        `MOST_CONTINUATIONS` times, and becomes one message whose usage is that of all its requests. One that is still
        paused then ends as ``length``.
        """
        return whole(self.name, self._pieces(request))

    async def close(self) -> None:
        """End the kept connections."""
        await self._http.close()

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        request = self._admission.admit(request)
        dialect = self._admission.dialect(request.model)
        keys = self._admission.server_keys(request.hosted)
        betas = anthropic_betas(request.hosted)
        names = tool_names(request)
        body = encode(
            request,
            dialect,
            provider=self.name,
            origin=self.origin,
            names=names,
            now=datetime.now(UTC),
            keys=keys,
        )
        decoder = MessagesDecoder(self.origin, Tally(request.model, self._prices))
        for continuations_left in reversed(range(MOST_CONTINUATIONS + 1)):
            async with (
                self._http.post("/messages", body, headers=betas, secrets=tuple(keys.values())) as reply,
                aclosing(decoded(reply, decoder)) as pieces,
            ):
                async for piece in pieces:
                    yield replace(piece, name=names.ours(piece.name)) if isinstance(piece, CallPiece) else piece
            if not continuations_left or not decoder.paused:
                break
            body = continued(body, decoder.content, decoder.container)
        for piece in decoder.finish():
            yield piece


async def decoded(reply: Reply, decoder: MessagesDecoder) -> AsyncGenerator[Piece, None]:
    """The pieces of one reply but for the finish, with tool names as the server knows them. Raises ProviderError."""
    decoder.begin(reply)

    def patience() -> float | None:
        return DRAIN if decoder.finished else None

    async with aclosing(payloads(reply, patience)) as values:
        async for value in values:
            if not isinstance(value, Done):
                for piece in decoder.feed(value):
                    yield piece
    for piece in decoder.end():
        yield piece
