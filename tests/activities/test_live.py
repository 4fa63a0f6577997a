from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from perdure.activities.live import REASONING_BYTES, TEXT_BYTES, Attempt, Window
from perdure.contracts.activities import LiveText
from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    OverloadedError,
    PerdureError,
    ProviderNetworkError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitedError,
    UnsupportedCapabilityError,
)
from perdure.contracts.usage import Bill, Cost, Usage
from perdure.providers.stream import CallPiece, FinishPiece, Piece, ReasoningPiece, StartPiece, TextPiece, UsagePiece
from tests.activities.runs import Run, said

CALL = Run((said(1),)).call()
OFFLOADED = 128 * 1024
LEFT = LiveText(
    message_id="t1s1",
    attempt=1,
    text="old",
    usage=Usage(requests=2, input_tokens=7),
    cost=Cost(nano_dollars=5, unpriced=1),
)


@given(st.lists(st.text(max_size=40), max_size=60), st.integers(8, 200))
def test_a_window_is_the_bounded_tail_of_the_whole_text(pieces: list[str], limit: int) -> None:
    window, whole = Window(limit), ""
    for piece in pieces:
        window.add(piece)
        whole += piece
        assert window.text == whole[window.offset :]
        assert len(to_json(window.text)) - 2 <= limit


def test_a_window_keeps_everything_that_fits() -> None:
    window = Window(100)
    window.add("a" * 100)
    assert (window.offset, len(window.text)) == (0, 100)


def test_a_full_window_drops_its_older_half_at_once() -> None:
    window = Window(1_000)
    offsets = set()
    for _ in range(5_000):
        window.add("a")
        offsets.add(window.offset)
    assert len(offsets) <= 15


def test_one_huge_piece_leaves_its_tail() -> None:
    window = Window(1_000)
    window.add("a" * 1_000_000 + "z")
    assert window.text.endswith("z")
    assert window.offset + len(window.text) == 1_000_001


def test_live_text_stays_below_the_size_at_which_payloads_are_stored_outside() -> None:
    attempt = Attempt(CALL, 1)
    attempt.ask()
    for _ in range(3_000):
        attempt.add(TextPiece('"\n\u2028ü' * 20))
        attempt.add(ReasoningPiece("\\\t\x00" * 20))
        assert len(attempt.live.model_dump_json()) < OFFLOADED
    assert TEXT_BYTES + REASONING_BYTES < OFFLOADED
    assert attempt.message("interrupted").text == '"\n\u2028ü' * 20 * 3_000


def test_text_reasoning_and_usage_are_worth_telling_and_the_rest_is_not() -> None:
    attempt = Attempt(CALL, 1)
    assert attempt.add(TextPiece("a"))
    assert attempt.add(ReasoningPiece("b"))
    assert attempt.add(UsagePiece(Usage(output_tokens=1)))
    assert not attempt.add(StartPiece("m"))
    assert not attempt.add(CallPiece(0, name="x"))
    assert not attempt.add(FinishPiece("stop"))
    assert (attempt.live.text, attempt.live.reasoning) == ("a", "b")


def test_an_attempt_adds_to_what_earlier_ones_took() -> None:
    attempt = Attempt(CALL, 2, [LEFT.model_dump(mode="json")])
    assert (attempt.live.text, attempt.live.attempt) == ("", 2)
    assert attempt.usage == LEFT.usage
    attempt.ask()
    attempt.add(UsagePiece(Usage(input_tokens=10, output_tokens=3), Cost(nano_dollars=9)))
    attempt.add(FinishPiece("stop"))
    assert attempt.live.usage == Usage(requests=3, input_tokens=17, output_tokens=3)
    assert attempt.live.cost == Cost(nano_dollars=14, unpriced=1)
    assert attempt.message("stop").usage == attempt.live.usage
    assert attempt.message("stop").cost == attempt.live.cost


def test_a_request_that_never_went_out_took_nothing() -> None:
    assert Attempt(CALL, 1).message("interrupted").usage == Usage()
    assert Attempt(CALL, 1).message("interrupted").cost == Cost()


PRICED = CALL.model_copy(update={"model": "openai:gpt-x"})
UNKNOWN = Bill(usage=Usage(requests=1, incomplete=1), cost=Cost(unpriced=1))


def test_a_request_whose_answer_never_came_is_of_unknown_price() -> None:
    attempt = Attempt(PRICED, 1)
    attempt.ask()
    assert attempt.total == UNKNOWN
    message = attempt.message("interrupted")
    assert Bill(usage=message.usage, cost=message.cost) == UNKNOWN


def test_an_answer_that_broke_off_took_at_least_what_was_said() -> None:
    attempt = Attempt(PRICED, 1)
    attempt.ask()
    attempt.add(UsagePiece(Usage(input_tokens=100, output_tokens=1), Cost(nano_dollars=9)))
    said = Usage(requests=1, input_tokens=100, output_tokens=1, incomplete=1)
    assert attempt.total == Bill(usage=said, cost=Cost(nano_dollars=9))


REFUSALS = [
    RateLimitedError("openai", "slow down", status=429),
    OverloadedError("openai", "busy", status=503),
    AuthenticationError("openai", "wrong key", status=401),
    UnsupportedCapabilityError("openai:gpt-x", "images", ()),
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
def test_a_request_that_was_turned_away_counts_and_costs_nothing(error: PerdureError) -> None:
    attempt = Attempt(PRICED, 1)
    attempt.ask()
    attempt.fail(error)
    assert attempt.total == Bill(usage=Usage(requests=1))
    assert (attempt.live.usage, attempt.live.cost) == (attempt.usage, attempt.cost)


def test_a_request_that_never_reached_the_provider_costs_nothing() -> None:
    error = ProviderNetworkError("openai", "no connection")
    error.sent = False
    attempt = Attempt(PRICED, 1)
    attempt.ask()
    attempt.fail(error)
    assert attempt.total == Bill(usage=Usage(requests=1))


@pytest.mark.parametrize(
    "error", [ProviderTimeoutError("openai", "silent"), ProviderNetworkError("openai", "broke"), KeyError("bug")]
)
def test_a_request_that_the_provider_may_have_worked_on_is_of_unknown_price(error: Exception) -> None:
    attempt = Attempt(PRICED, 1)
    attempt.ask()
    attempt.fail(error)
    assert attempt.total == UNKNOWN


def test_what_an_attempt_leaves_if_its_worker_is_lost_counts_the_request_that_is_about_to_go_out() -> None:
    attempt = Attempt(PRICED, 1)
    assert Attempt(PRICED, 2, (attempt.live,)).total == UNKNOWN
    attempt.spare()
    assert Attempt(PRICED, 2, (attempt.live,)).total == Bill()


def test_details_that_another_release_wrote_do_no_harm() -> None:
    broken: list[list[Any]] = [["half"], [{"message_id": 5}], [None], [[1, 2]], [{"usage": {"requests": "many"}}], [{}]]
    for details in broken:
        assert Attempt(CALL, 2, details).total == Bill()


def test_details_with_fields_that_a_newer_release_added_are_read() -> None:
    assert Attempt(CALL, 2, [{**LEFT.model_dump(mode="json"), "mood": "fine"}]).usage == LEFT.usage


def test_an_attempt_asks_the_model_whose_turn_it_is_and_says_so() -> None:
    call = CALL.model_copy(update={"model": "a:1", "fallbacks": ("b:2",)})
    attempt = Attempt(call, 1)
    attempt.ask()
    assert (attempt.model, attempt.tries, attempt.live.model, attempt.live.tries) == ("a:1", 1, "a:1", 1)
    attempt.add(UsagePiece(Usage(input_tokens=7), Cost(nano_dollars=5)))
    assert attempt.taken == (Usage(requests=1, input_tokens=7, incomplete=1), Cost(nano_dollars=5))
    assert attempt.fail(QuotaError("a", "no credit")).wait is not None
    # Who reads the heartbeat sees who wrote it; who goes on reads there that it is given up.
    assert (attempt.live.model, len(attempt.live.given_up)) == ("a:1", 1)
    second = Attempt(call, 2, [attempt.live.model_dump(mode="json")])
    assert (second.model, second.taken, second.usage) == ("b:2", None, Usage(requests=1, input_tokens=7, incomplete=1))
    second.ask()
    second.add(TextPiece("Hi"))
    second.add(FinishPiece("stop"))
    message = second.answer()
    assert (message.model, message.attempt, message.usage.requests) == ("b:2", 2, 2)


@pytest.mark.parametrize("piece", [TextPiece("The"), CallPiece(0, name="add")])
def test_an_answer_that_was_cut_is_one_when_more_than_thought_came(piece: Piece) -> None:
    attempt = Attempt(CALL, 1)
    for part in (ReasoningPiece("Hm."), piece, FinishPiece("length")):
        attempt.add(part)
    assert attempt.answer().finish == "length"


def test_thought_alone_that_was_cut_is_no_answer() -> None:
    attempt = Attempt(CALL, 1)
    for part in (ReasoningPiece("Hm."), FinishPiece("length")):
        attempt.add(part)
    with pytest.raises(BadReplyError, match="used up its output tokens") as caught:
        attempt.answer()
    assert not caught.value.retryable
    assert attempt.message("interrupted").finish == "interrupted"
