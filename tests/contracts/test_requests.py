from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.requests import Approve, Cancel, Order, RunRequest, Send

ORDER: TypeAdapter[Order] = TypeAdapter(Order)


def test_a_message_is_all_that_a_start_needs() -> None:
    request = RunRequest.model_validate_json('{"message": "Hello"}')

    assert (request.agent, request.mode, request.humans, request.conversation) == (
        "assistant",
        "manual",
        "available",
        False,
    )


@pytest.mark.parametrize("text", ["{}", '{"message": ""}', '{"message": null}', '{"message": 7}'])
def test_a_start_without_a_message_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="message"):
        RunRequest.model_validate_json(text)


def test_an_order_is_read_by_its_kind() -> None:
    assert ORDER.validate_json('{"kind": "send", "message": "Hello"}') == Send(message="Hello")
    assert ORDER.validate_json('{"kind": "approve"}') == Approve()


@pytest.mark.parametrize("text", ['{"kind": "explode"}', '{"kind": "send", "message": ""}', '{"kind": "answer"}', "{}"])
def test_an_order_that_says_too_little_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        ORDER.validate_json(text)


@pytest.mark.parametrize(
    ("cancel", "text"),
    [
        (Cancel(), ""),
        (Cancel(reason="too late"), "too late"),
        (Cancel(actor="ana"), "(by ana)"),
        (Cancel(reason="too late", actor="ana (ops)"), "too late (by ana (ops))"),
        (Cancel(reason="a call (by phone)", actor="ana"), "a call (by phone) (by ana)"),
    ],
)
def test_a_cancel_is_one_text_that_says_who_and_why(cancel: Cancel, text: str) -> None:
    assert str(cancel) == text
    assert Cancel.parse(text) == cancel


def test_the_text_of_another_clients_cancel_is_its_reason() -> None:
    assert Cancel.parse("stopped (by hand) at night") == Cancel(reason="stopped (by hand) at night")


def test_a_type_in_place_of_a_schema_is_told_where_it_goes() -> None:
    given: Any = RunRequest
    with pytest.raises(InvalidInputError, match=r"a type goes into Client\.start\(…, output=…\)"):
        RunRequest(message="Count", output=given)
