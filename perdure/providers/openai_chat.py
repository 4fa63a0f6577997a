"""The adapter for OpenAI's chat completions and every server that speaks them, at any base URL."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from perdure.providers.adapter import Adapter, Asked
from perdure.providers.chat_decoding import ChatDecoder
from perdure.providers.chat_encoding import encode
from perdure.providers.stream import Piece


class ChatProvider(Adapter):
    """One server's models, by OpenAI's chat protocol."""

    def _answer(self, asked: Asked) -> AsyncGenerator[Piece, None]:
        body = encode(asked.request, asked.dialect, provider=self.name, origin=self.origin, names=asked.names)
        return self._exchange(
            asked, "/chat/completions", body, lambda reply: ChatDecoder(reply, asked.dialect, self.origin)
        )
