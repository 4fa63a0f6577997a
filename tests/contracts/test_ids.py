from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from perdure.contracts.ids import (
    call_id,
    idempotency_key,
    is_tail,
    kept_grant_id,
    model_message_id,
    question_id,
    request_id,
    result_message_id,
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
