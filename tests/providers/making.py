"""A server for makers under test: it answers with what it is given, and keeps what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from perdure.providers.catalogue import ProviderSettings
from perdure.providers.makers import Makers
from tests.providers.serving import service


class Server:
    """Answers each request with the next reply, the last one for ever."""

    def __init__(self, *replies: Any, status: int = 200, media_type: str = "audio/mpeg") -> None:
        """``media_type`` is what it says of bytes."""
        self.replies = [*replies]
        self.status = status
        self.media_type = media_type
        self.requests: list[httpx.Request] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, bytes):
            return httpx.Response(self.status, content=reply, headers={"content-type": self.media_type})
        return httpx.Response(self.status, json=reply)


@asynccontextmanager
async def making(
    server: Server,
    *,
    provider: str = "openai",
    settings: ProviderSettings | None = None,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[Makers]:
    """The makers of one known provider, with ``server`` behind them."""
    transport = httpx.MockTransport(server.handle)
    makers = Makers(service(provider, settings=settings, environ=environ, transport=transport))
    try:
        yield makers
    finally:
        await makers.close()
