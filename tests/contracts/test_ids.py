from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.contracts.ids import (
    call_id,
    grant_book_id,
    idempotency_key,
    is_tail,
    kept_grant_id,
    model_message_id,
    question_id,
    request_id,
    result_message_id,
    run_id_problem,
    tail_message_id,
    user_message_id,
)

places = st.tuples(*[st.integers(1, 10_000)] * 3)


def test_ids_are_short_and_read_as_where_they_stand() -> None:
    assert user_message_id(3) == "u3"
    assert (model_message_id(1, 2), model_message_id(1, 2, 2)) == ("t1s2", "t1s2m2")
    assert call_id("t1s2", 1) == "t1s2c1"
    assert result_message_id("t1s2c1") == "t1s2c1r"
    assert request_id("t1s2", 1) == "t1s2a1"
    assert idempotency_key("run-1", "t1s2c1") == "run-1/t1s2c1"


def test_two_runs_of_one_id_keep_their_grants_apart() -> None:
    monday, tuesday = datetime(2030, 1, 7, 9, 30, 0, 250_999, tzinfo=UTC), datetime(2030, 1, 8, 9, 30, tzinfo=UTC)

    assert kept_grant_id("nightly", 1, monday) == "nightly/g1-20300107093000250"
    assert kept_grant_id("nightly", 1, monday) != kept_grant_id("nightly", 1, tuesday)


def test_a_question_is_named_by_the_call_that_it_settles() -> None:
    assert question_id("t1s2c1") == "t1s2c1"


def test_a_tail_is_known_by_its_id() -> None:
    assert is_tail(tail_message_id("guidance"))
    assert not any(is_tail(found) for found in (user_message_id(1), model_message_id(1, 2), call_id("t1s2", 1)))


@given(place=places, other=places, position=st.integers(1, 99), number=st.integers(1, 99))
def test_two_places_never_share_an_id(
    place: tuple[int, int, int], other: tuple[int, int, int], position: int, number: int
) -> None:
    def ids(turn: int, step: int, at: int) -> set[str]:
        message = model_message_id(turn, step, at)
        calls = {call_id(message, position), call_id(message, position + number)}
        requests = {request_id(message, position), request_id(message, position + number)}
        return {message, *calls, *map(result_message_id, calls), *requests}

    assert len(ids(*place)) == 7
    assert place == other or not ids(*place) & ids(*other)
    assert user_message_id(place[0]) not in ids(*place)


@pytest.mark.parametrize("run_id", ["nightly", "run-52d9a0bc03a2", "team/a.b_c:7", "x" * 200])
def test_a_run_may_have_an_id_that_nothing_has_to_quote(run_id: str) -> None:
    assert run_id_problem(run_id) == ""


@pytest.mark.parametrize("run_id", ["", "a b", "a\n", "é\n", "é", "$(x)", "x" * 201, "x" * 2_000])
def test_a_run_has_no_id_that_is_hard_to_handle(run_id: str) -> None:
    assert "letters, digits and . _ - / :" in run_id_problem(run_id)
    assert len(run_id_problem(run_id)) < 200


def test_a_run_has_no_id_of_a_grant_book() -> None:
    assert "books of grants" in run_id_problem(grant_book_id("agent", "clerk"))
