"""What makes an answer whole: the rules that every adapter's stream passes before anybody believes it.

Trap: a stream that ends is not a stream that ended well. Vendors' own SDKs take a cut stream for a short answer; here
only the provider's own word that it has finished counts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from perdure.contracts.errors import BadReplyError, ProviderError
from perdure.contracts.messages import FinishReason
from perdure.providers.stream import (
    CallPiece,
    FinishPiece,
    HostedPiece,
    ImagePiece,
    Piece,
    ReasoningPiece,
    TextPiece,
    UsagePiece,
)

CUT = "the answer ended before the model had finished; what came is not the whole"
NAMELESS = "a tool call came without the tool's name"


async def whole(provider: str, pieces: AsyncGenerator[Piece, None]) -> AsyncGenerator[Piece, None]:
    """``pieces``, with these rules held:

    - No `FinishPiece`: BadReplyError, the answer was cut.
    - An answer without text, reasoning, calls, images and hosted parts: BadReplyError, unless the provider refused.
    - Such an answer that was cut at its length: BadReplyError that is not retried. What nobody saw, most often
      thinking, took all tokens; the same request would be paid for again and end there again.
    - Reasoning alone and a normal stop: the reasoning is the answer, and is given again as text before the finish.
    - Any error says whether a part of the answer had been delivered. An answer that cannot be used is read to its end
      first: what it took is often said last.
    """
    answered = finished = delivered = False
    unusable: FinishReason | None = None
    thinking = 0
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
                    case CallPiece() | HostedPiece() | ImagePiece():
                        answered = delivered = True
                    case FinishPiece(reason) if not finished:
                        finished = True
                        thought = "".join(reasoning)
                        if not answered and reason in ("stop", "calls") and thought.strip():
                            yield TextPiece(thought)
                        elif not answered and not thought.strip() and reason != "refused":
                            unusable = reason
                    case UsagePiece(usage):
                        thinking = usage.reasoning_tokens
                    case _:
                        pass
                yield piece
        if not finished:
            raise BadReplyError(provider, CUT)
        if unusable == "length":
            raise used_up(provider, thinking)
        if unusable:
            raise BadReplyError(provider, "the answer is empty: no text and no call")
    except ProviderError as error:
        error.delivered = error.delivered or delivered
        raise


def used_up(provider: str, thinking: int = 0) -> BadReplyError:
    """The error of an answer that was cut at its length before anything came, after ``thinking`` tokens of thought."""
    share = f" ({thinking} of them thinking)" if thinking else ""
    sentence = (
        f"the answer is empty: the model used up its output tokens{share} before it wrote anything; allow it more"
    )
    error = BadReplyError(provider, sentence, code="length")
    error.retryable = False
    return error
