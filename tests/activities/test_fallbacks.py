from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.activities.fallbacks import AT_ONCE, CARRIED, UNHEARD, Standing
from perdure.activities.setbacks import LONGEST, SHORTEST
from perdure.contracts.activities import LiveText, ModelCall
from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    ContextTooLongError,
    KeyMissingError,
    OverloadedError,
    PerdureError,
    ProviderNetworkError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitedError,
    RefusedError,
    RenderError,
    TranscriptUnavailableError,
    UnknownModelError,
    UnsupportedCapabilityError,
)
from tests.activities.runs import Run, said

CALL = Run((said(1),)).call(model="a:1").model_copy(update={"fallbacks": ("b:2", "c:3"), "tries": 2})
ALONE = CALL.model_copy(update={"fallbacks": ()})


def first(call: ModelCall = CALL) -> Standing:
    return Standing.of(call, 1, None)


PASSING = [RateLimitedError, OverloadedError, ProviderTimeoutError, ProviderNetworkError, BadReplyError]
LASTING = [
    AuthenticationError("a", "wrong key"),
    QuotaError("a", "no credit"),
    BadRequestError("a", "no such field"),
    ContextTooLongError("a", "too long"),
    KeyMissingError("a", "A_KEY"),
    UnknownModelError("There is no a:1."),
    UnsupportedCapabilityError("a:1", "images", ()),
]


@pytest.mark.parametrize("kind", PASSING)
def test_the_same_model_is_asked_again_until_its_tries_are_used_up(kind: type[OverloadedError]) -> None:
    standing, setback = first().asked().after(kind("a", "busy"), attempt=1)
    assert standing.model == "a:1"
    assert setback.wait is not None
    assert SHORTEST <= setback.wait <= LONGEST
    standing, setback = standing.asked().after(kind("a", "busy"), attempt=2)
    assert (standing.model, standing.tries, setback.wait) == ("b:2", 0, AT_ONCE)


@pytest.mark.parametrize("error", LASTING, ids=lambda error: type(error).__name__)
def test_what_another_model_may_not_have_moves_on_at_once(error: PerdureError) -> None:
    standing, setback = first().asked().after(error, attempt=1)
    assert (standing.model, setback.wait) == ("b:2", AT_ONCE)
    assert setback.failure.kind == error.kind
    assert setback.failure.message == f"{str(error).removesuffix('.')}. The model b:2 is asked next."
    assert standing.given_up == (error.failure(),)


@pytest.mark.parametrize("error", [RefusedError("a", "no"), RenderError("nudge", "bug"), ValueError("bug")])
def test_no_other_model_is_asked_about_a_refusal_or_a_fault_of_ours(error: Exception) -> None:
    standing, setback = first().asked().after(error, attempt=1)
    assert (standing.model, setback.wait) == ("a:1", None)


def test_a_transcript_that_cannot_be_had_is_no_fault_of_the_model() -> None:
    standing = first()
    for attempt in range(1, 6):
        standing, setback = standing.after(TranscriptUnavailableError("r", "no worker"), attempt=attempt)
        assert setback.wait is not None
    assert (standing.model, standing.tries) == ("a:1", 0)


def test_a_model_that_asks_for_a_long_wait_is_left_while_another_is_there() -> None:
    slow = RateLimitedError("a", "slow down", retry_after=LONGEST + timedelta(seconds=1))
    assert first().asked().after(slow, attempt=1)[0].model == "b:2"
    bearable = RateLimitedError("a", "slow down", retry_after=LONGEST)
    assert first().asked().after(bearable, attempt=1)[0].model == "a:1"
    standing, setback = first(ALONE).asked().after(slow, attempt=1)
    assert (standing.model, setback.wait) == ("a:1", LONGEST + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RateLimitedError("a", "slow down", retry_after=timedelta(seconds=20)),
            "a: slow down. The provider limits the rate and asks for a wait of 20 s.",
        ),
        (
            OverloadedError("a", "busy", retry_after=timedelta(seconds=20)),
            "a: busy. The provider asks for a wait of 20 s.",
        ),
        (OverloadedError("a", "busy", retry_after=timedelta(0)), "a: busy"),
        (OverloadedError("a", "busy"), "a: busy"),
    ],
)
def test_a_wait_that_the_provider_asks_for_is_told(error: PerdureError, said: str) -> None:
    assert first().asked().after(error, attempt=1)[1].failure.message == said


def test_a_model_that_is_down_is_left_after_one_try_while_another_is_there() -> None:
    busy = OverloadedError("a", "busy")
    standing, setback = first().asked().after(busy, attempt=1, down=True)
    assert (standing.model, setback.wait) == ("b:2", AT_ONCE)
    assert setback.failure.message == "a: busy. The model b:2 is asked next."
    standing, setback = first(ALONE).asked().after(busy, attempt=1, down=True)
    assert standing.model == "a:1"
    assert setback.wait is not None


def test_the_back_off_of_a_fallback_begins_anew() -> None:
    standing = Standing.of(CALL.model_copy(update={"tries": 9}), 8, None)
    standing, _ = standing.asked().after(QuotaError("a", "no credit"), attempt=8)
    _, setback = standing.asked().after(OverloadedError("b", "busy"), attempt=9)
    assert setback.wait is not None
    assert setback.wait <= SHORTEST * 2


def test_the_last_word_is_that_of_the_first_model_and_names_the_others() -> None:
    standing = first()
    for error in (QuotaError("a", "no credit"), AuthenticationError("b", "wrong key"), OverloadedError("c", "busy")):
        standing, setback = standing.asked().after(error, attempt=1)
    standing, setback = standing.asked().after(OverloadedError("c", "busy"), attempt=4)
    assert setback.wait is None
    assert (setback.failure.kind, setback.failure.attribution) == ("quota", "operator")
    assert setback.failure.message == "a: no credit. No other model answered. b:2: b: wrong key. c:3: c: busy."


def test_a_context_that_is_too_long_for_one_model_is_the_last_word_since_the_run_can_mend_it() -> None:
    call = CALL.model_copy(update={"fallbacks": ("b:2",)})
    standing, _ = first(call).asked().after(AuthenticationError("a", "wrong key"), attempt=1)
    _, setback = standing.asked().after(ContextTooLongError("b", "too long"), attempt=2)
    assert (setback.failure.kind, setback.wait) == ("context_too_long", None)


def test_the_failure_of_a_single_model_is_told_as_it_is() -> None:
    error = QuotaError("a", "no credit")
    assert first(ALONE).asked().after(error, attempt=1)[1].failure == error.failure()
    busy = OverloadedError("a", "busy")
    standing, _ = first(ALONE).asked().after(busy, attempt=1)
    _, setback = standing.asked().after(busy, attempt=2)
    assert (setback.failure, setback.wait) == (busy.failure(), None)


def test_a_model_is_asked_once_however_often_it_is_named() -> None:
    standing = first(CALL.model_copy(update={"fallbacks": ("a:1", "b:2", "b:2")}))
    assert standing.models == ("a:1", "b:2")


def test_what_is_carried_along_is_bounded() -> None:
    standing, setback = first().asked().after(QuotaError("a", "x" * 1_900), attempt=1)
    assert len(standing.given_up[0].message) == CARRIED
    assert len(setback.failure.message) < CARRIED + 100


def left(standing: Standing, model: str = "") -> LiveText:
    """What an attempt leaves for the next one."""
    live = LiveText(
        message_id="t1s1",
        attempt=1,
        model=model or standing.model,
        tries=standing.tries,
        given_up=standing.given_up,
    )
    return LiveText.model_validate_json(live.model_dump_json())


def test_the_next_attempt_stands_where_the_last_one_left() -> None:
    standing, _ = first().asked().after(OverloadedError("a", "busy"), attempt=1)
    assert Standing.of(CALL, 2, left(standing)) == standing
    moved, _ = first().asked().after(QuotaError("a", "no credit"), attempt=1)
    assert Standing.of(CALL, 2, left(moved, "a:1")) == moved


def test_attempts_that_ended_without_a_word_count_and_the_next_model_follows() -> None:
    standing = first().asked().asked()
    assert Standing.of(CALL, 3, left(standing)) == Standing(CALL_MODELS, 2, (UNHEARD,), 0)
    alone = first(ALONE).asked().asked()
    assert Standing.of(ALONE, 3, left(alone)).model == "a:1"


CALL_MODELS = ("a:1", "b:2", "c:3")


@pytest.mark.parametrize(
    ("number", "model", "tries"),
    [(1, "a:1", 0), (2, "a:1", 1), (3, "b:2", 0), (4, "b:2", 1), (5, "c:3", 0), (6, "c:3", 1), (9, "c:3", 4)],
)
def test_without_a_word_of_those_before_the_number_says_where_the_call_stands(
    number: int, model: str, tries: int
) -> None:
    for live in (None, LiveText(message_id="t1s1", attempt=1), LiveText(message_id="t1s1", attempt=1, model="z:9")):
        standing = Standing.of(CALL, number, live)
        assert (standing.model, standing.tries) == (model, tries)


ERRORS = [
    *LASTING,
    *(kind("a", "busy") for kind in PASSING),
    RateLimitedError("a", "slow down", retry_after=timedelta(minutes=5)),
]


@given(st.lists(st.sampled_from(ERRORS), min_size=40, max_size=40), st.booleans())
def test_every_call_ends_and_asks_no_model_more_often_than_it_may(errors: list[PerdureError], forgets: bool) -> None:
    asked: list[str] = []
    live: LiveText | None = None
    for number, error in enumerate(errors, start=1):
        standing = Standing.of(CALL, number, None if forgets else live).asked()
        asked.append(standing.model)
        after, setback = standing.after(error, attempt=number)
        live = left(after, standing.model)
        if setback.wait is None:
            break
    assert len(asked) <= 6
    assert all(asked.count(model) <= 2 for model in CALL_MODELS)
    assert asked == sorted(asked)
