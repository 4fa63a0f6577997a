from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import pytest

from perdure.contracts.errors import BadReplyError, OverloadedError, ProviderError
from perdure.contracts.messages import AssistantMessage, FinishReason
from perdure.contracts.usage import Usage
from perdure.providers.completion import whole
from perdure.providers.stream import CallPiece, FinishPiece, Piece, ReasoningPiece, StartPiece, TextPiece, UsagePiece
from tests.providers import anthropic_serving as anthropic
from tests.providers import gemini_serving as gemini
from tests.providers import responses_serving as responses
from tests.providers import serving as chat


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


@pytest.mark.parametrize("reason", ["stop", "calls"])
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


@pytest.mark.parametrize("pieces", [[], [TextPiece(" ")], [ReasoningPiece("")]])
async def test_tokens_that_were_used_up_before_anything_came_are_no_reason_to_ask_again(pieces: list[Piece]) -> None:
    with pytest.raises(BadReplyError, match=r"empty: the model used up its output tokens .*\(length\)") as caught:
        await checked(*pieces, FinishPiece("length"))
    assert not caught.value.retryable


async def test_an_answer_that_cannot_be_used_is_read_to_its_end() -> None:
    stream = whole("x", played(FinishPiece("length"), UsagePiece(Usage(output_tokens=64))))
    assert await anext(stream) == FinishPiece("length")
    assert await anext(stream) == UsagePiece(Usage(output_tokens=64))
    with pytest.raises(BadReplyError, match="used up"):
        await anext(stream)


CUT: dict[str, tuple[Callable[[chat.Handler], Awaitable[AssistantMessage]], bytes]] = {
    "chat": (
        chat.answer,
        chat.events(chat.chunk(role="assistant", content=""), chat.chunk("length"), chat.counted()),
    ),
    "responses": (
        responses.answer,
        responses.events(
            responses.begun(),
            responses.event(
                "incomplete",
                response=responses.response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            ),
        ),
    ),
    "anthropic": (anthropic.answer, anthropic.events(anthropic.start(), anthropic.end("max_tokens"))),
    "gemini": (
        gemini.answer,
        gemini.events(gemini.chunk(finish="MAX_TOKENS", usage={"promptTokenCount": 9, "thoughtsTokenCount": 64})),
    ),
}


@pytest.mark.parametrize("protocol", CUT)
async def test_each_protocol_tells_of_a_limit_that_hidden_reasoning_used_up(protocol: str) -> None:
    answer, stream = CUT[protocol]
    with pytest.raises(BadReplyError, match="used up its output tokens") as caught:
        await answer(chat.replying(stream))
    assert not caught.value.retryable


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
