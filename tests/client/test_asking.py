from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from perdure.client.asking import check_order, startable
from perdure.contracts.agent import AgentSpec
from perdure.contracts.attachments import ATTACHMENT_BYTES
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import FilePart, ImagePart
from perdure.contracts.requests import Edit, RunRequest, Send


class Count(BaseModel):
    count: int


def test_a_bare_string_is_the_message_and_a_type_becomes_its_schema() -> None:
    asked = startable("Count", list[Count])
    assert asked.message == "Count"
    assert asked.output is not None
    assert asked.output["type"] == "array"


@pytest.mark.parametrize("given", [5, b"Hi", None, {"message": "Hi"}])
def test_what_is_no_message_and_no_request_starts_nothing(given: Any) -> None:
    with pytest.raises(InvalidInputError, match="a message or a RunRequest, not with"):
        startable(given)


@pytest.mark.parametrize("message", ["", " \n"])
def test_an_empty_message_is_refused(message: str) -> None:
    with pytest.raises(InvalidInputError, match="empty"):
        startable(message)
    for order in (Send(message=" "), Edit(message_id="u1", message=" ")):
        with pytest.raises(InvalidInputError, match="empty"):
            check_order(order)


@pytest.mark.parametrize(
    "request_",
    [
        RunRequest(message="Count", output={"type": "objekt"}),
        RunRequest(message="Count", agent=AgentSpec(output={"$ref": "http://example.org/a"})),
    ],
)
def test_a_schema_that_is_none_is_refused_before_the_start(request_: RunRequest) -> None:
    with pytest.raises(InvalidInputError, match="The output schema cannot be used"):
        startable(request_)


def test_a_type_without_a_schema_is_refused() -> None:
    class Odd:
        pass

    for output in (Odd, dict[str, Any] | Odd):
        with pytest.raises(InvalidInputError, match="There is no JSON Schema of"):
            startable("Hi", output)  # type: ignore[arg-type]  # a union is no type to mypy


def test_an_attachment_that_no_provider_could_use_is_refused() -> None:
    parts = (ImagePart(url="http://user:pw@example.org/x.png"),)
    for ask in (
        lambda: startable(RunRequest(message="Look", attachments=parts)),
        lambda: check_order(Send(message="Look", attachments=parts)),
    ):
        with pytest.raises(InvalidInputError, match="Attachment 1 cannot be sent"):
            ask()


def test_attachments_that_are_too_large_together_are_refused() -> None:
    parts = (FilePart(media_type="application/pdf", data=b"x" * ATTACHMENT_BYTES),) * 2
    with pytest.raises(InvalidInputError, match="The start request is too large together"):
        startable(RunRequest(message="Look", attachments=parts))
