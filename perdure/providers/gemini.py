"""The adapter for Google Gemini's generateContent, at Google's address or any other that speaks it.

The key never goes into the address, as ``?key=``, since addresses are logged.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from perdure.providers.adapter import Adapter, Asked
from perdure.providers.gemini_decoding import GeminiDecoder
from perdure.providers.gemini_encoding import encode, path
from perdure.providers.stream import Piece


class GeminiProvider(Adapter):
    """One server's models, by Gemini's protocol."""

    letter_first = True

    def _answer(self, asked: Asked) -> AsyncGenerator[Piece, None]:
        body = encode(asked.request, asked.dialect, provider=self.name, origin=self.origin, names=asked.names)
        where = path(asked.request.model, "streamGenerateContent?alt=sse")
        return self._exchange(asked, where, body, lambda reply: GeminiDecoder(reply, self.origin))
