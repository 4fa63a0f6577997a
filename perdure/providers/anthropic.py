"""The adapter for Anthropic's Messages protocol and every server that speaks it, at any base URL.

An answer that the provider pauses (``pause_turn``: a tool of its own takes long) is continued here, and becomes one
message whose usage is that of all its requests. One that stays paused ends as ``length``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from types import MappingProxyType

from perdure.providers.adapter import Adapter, Asked
from perdure.providers.anthropic_decoding import MessagesDecoder
from perdure.providers.anthropic_encoding import continued, encode
from perdure.providers.anthropic_usage import Tally
from perdure.providers.hosted_tools import anthropic_betas
from perdure.providers.stream import Piece, UsagePiece

VERSION = "2023-06-01"
"""The protocol's version, which every request names."""

MOST_CONTINUATIONS = 8
"""How often at most a paused answer is continued; each time is a request of its own, which costs."""


class AnthropicProvider(Adapter):
    """One server's models, by Anthropic's protocol."""

    headers = MappingProxyType({"anthropic-version": VERSION})

    async def _answer(self, asked: Asked) -> AsyncGenerator[Piece, None]:
        request = asked.request
        body = encode(
            request,
            asked.dialect,
            provider=self.name,
            origin=self.origin,
            names=asked.names,
            now=datetime.now(UTC),
            keys=asked.keys,
        )
        betas = anthropic_betas(request.hosted)
        decoder = MessagesDecoder(self.origin, Tally(request.model, self._prices))
        for continuations_left in reversed(range(MOST_CONTINUATIONS + 1)):
            async with aclosing(self._exchange(asked, "/messages", body, decoder.begin, betas)) as pieces:
                async for piece in pieces:
                    yield piece
            if not continuations_left or not decoder.paused:
                break
            body = continued(body, decoder.content, decoder.container)
        for piece in decoder.finish():
            yield piece

    def _priced(self, piece: UsagePiece, model: str) -> UsagePiece:
        # The tally has priced it: each of the models that took part at its own price.
        return piece
