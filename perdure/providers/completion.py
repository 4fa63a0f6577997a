"""What makes an answer whole: the rules that every adapter's stream passes before anybody believes it.

Trap: a stream that ends is not a stream that ended well. Vendors' own SDKs take a cut stream for a short answer; here
only the provider's own word that it has finished counts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from perdure.contracts.errors import BadReplyError, ProviderError
from perdure.providers.stream import CallPiece, FinishPiece, HostedPiece, Piece, ReasoningPiece, TextPiece


async def whole(provider: str, pieces: AsyncGenerator[Piece, None]) -> AsyncGenerator[Piece, None]:
    """``pieces``, with these rules held:

    - No `FinishPiece`: BadReplyError, the answer was cut.
    - An answer without text, reasoning, calls and hosted parts: BadReplyError, unless the provider refused.
    - Reasoning alone and a normal stop: the reasoning is the answer, and is given again as text before the finish.
    - Any error says whether a part of the answer had been delivered.
    """
    answered = finished = delivered = False
    reasoning: list[str] = []
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                match piece:
                    case TextPiece(text):
                        answered = answered or bool(text.strip())
                        delivered = delivered or bool(text)
                    case ReasoningPiece(text):
                        reasoning.append(text)
                        delivered = delivered or bool(text)
                    case CallPiece() | HostedPiece():
                        answered = delivered = True
                    case FinishPiece(reason) if not finished:
                        finished = True
                        thought = "".join(reasoning)
                        if not answered and reason in ("stop", "calls") and thought.strip():
                            yield TextPiece(thought)
                        elif not answered and not thought.strip() and reason != "refused":
                            raise BadReplyError(provider, "the answer is empty: no text and no call")
                    case _:
                        pass
                yield piece
    except ProviderError as error:
        error.delivered = error.delivered or delivered
        raise
    if not finished:
        raise BadReplyError(
            provider, "the answer ended before the model had finished; what came is not the whole", delivered=delivered
        )
