"""The adapter for OpenAI's Responses protocol, at OpenAI and at every server that speaks it."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from perdure.providers.adapter import Adapter, Asked
from perdure.providers.http import Reply
from perdure.providers.openai_responses_decoding import ResponsesDecoder
from perdure.providers.openai_responses_encoding import encode
from perdure.providers.stream import Piece


class ResponsesProvider(Adapter):
    """One server's models, by OpenAI's Responses protocol."""

    def _answer(self, asked: Asked) -> AsyncGenerator[Piece, None]:
        request, dialect = asked.request, asked.dialect

        def decoder(reply: Reply) -> ResponsesDecoder:
            return ResponsesDecoder(reply, dialect, self.origin, request.max_output_tokens)

        body = encode(request, dialect, provider=self.name, origin=self.origin, names=asked.names, keys=asked.keys)
        return self._exchange(asked, "/responses", body, decoder)
