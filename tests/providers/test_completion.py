from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from perdure.contracts.errors import BadReplyError, OverloadedError, ProviderError
from perdure.contracts.messages import FinishReason
from perdure.providers.completion import whole
from perdure.providers.stream import CallPiece, FinishPiece, Piece, ReasoningPiece, StartPiece, TextPiece


async def played(*pieces: Piece, fail: ProviderError | None = None) -> AsyncGenerator[Piece, None]:
    for piece in pieces:
        yield piece
    if fail:
        raise fail


async def checked(*pieces: Piece, fail: ProviderError | None = None) -> list[Piece]:
    return [piece async for piece in whole("x", played(*pieces, fail=fail))]


async def test_a_whole_answer_passes_unchanged() -> None:
    pieces: list[Piece] = [StartPiece("1"), TextPiece("a"), CallPiece(0, name="b"), FinishPiece("calls")]
    assert await checked(*pieces) == pieces


@pytest.mark.parametrize(
    ("piece", "delivered"),
    [(TextPiece("a"), True), (ReasoningPiece("a"), True), (CallPiece(0), True), (StartPiece("1"), False)],
)
async def test_an_end_without_a_finish_is_an_error_that_says_what_was_delivered(piece: Piece, delivered: bool) -> None:
    with pytest.raises(BadReplyError, match="before the model had finished") as caught:
        await checked(piece)
    assert caught.value.delivered is delivered
    assert caught.value.retryable


@pytest.mark.parametrize("reason", ["stop", "calls", "length"])
async def test_an_empty_answer_is_a_fault_of_the_provider(reason: FinishReason) -> None:
    replies: list[list[Piece]] = [[], [TextPiece("")], [TextPiece(" \n")], [ReasoningPiece(" ")]]
    for pieces in replies:
        with pytest.raises(BadReplyError, match="empty"):
            await checked(*pieces, FinishPiece(reason))


async def test_a_refusal_may_be_empty() -> None:
    assert await checked(FinishPiece("refused")) == [FinishPiece("refused")]


async def test_reasoning_alone_with_a_normal_stop_is_the_answer() -> None:
    pieces: list[Piece] = [ReasoningPiece("The answer "), ReasoningPiece("is 4."), FinishPiece("stop")]
    assert await checked(*pieces) == [*pieces[:2], TextPiece("The answer is 4."), FinishPiece("stop")]


async def test_reasoning_that_was_cut_is_no_answer() -> None:
    pieces: list[Piece] = [ReasoningPiece("The answer "), FinishPiece("length")]
    assert await checked(*pieces) == pieces


async def test_an_error_says_whether_a_part_was_delivered() -> None:
    for pieces, delivered in (([TextPiece("a")], True), ([StartPiece("1")], False)):
        with pytest.raises(OverloadedError) as caught:
            await checked(*pieces, fail=OverloadedError("x", "busy"))
        assert caught.value.delivered is delivered


async def test_leaving_early_closes_the_stream_beneath() -> None:
    closed = False

    async def endless() -> AsyncGenerator[Piece, None]:
        nonlocal closed
        try:
            while True:
                yield TextPiece("a")
        finally:
            closed = True

    async with aclosing(whole("x", endless())) as pieces:
        assert await anext(pieces) == TextPiece("a")
    assert closed
