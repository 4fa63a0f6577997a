from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from perdure.client.asking import check_order, startable
from perdure.contracts.agent import AgentSpec
from perdure.contracts.attachments import ATTACHMENT_BYTES
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import AudioPart, FilePart, ImagePart, UserPart
from perdure.contracts.requests import Edit, RunRequest, Send


class Count(BaseModel):
    count: int


def test_a_bare_string_is_the_message_and_a_type_becomes_its_schema() -> None:
    asked = startable("Count", list[Count])
    assert asked.message == "Count"
    assert asked.output is not None
    assert asked.output["type"] == "array"


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


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (FilePart(media_type="text/plain"), "either data or a url"),
        (FilePart(media_type="text/plain", data=b"x", url="https://example.org/a"), "either data or a url"),
        (FilePart(media_type="text/plain", data=b""), "it is empty"),
        (FilePart(media_type="text/plain", data=b"x" * (ATTACHMENT_BYTES + 1)), "it is too large"),
        (FilePart(media_type="nonsense", data=b"x"), "'nonsense' is no media type"),
        (ImagePart(url="file:///etc/passwd"), "starts with http:// or https://"),
        (AudioPart(url="javascript:alert(1)"), "starts with http:// or https://"),
        (ImagePart(url="http://user:pw@example.org/x.png"), "neither a user nor a password"),
    ],
)
def test_an_attachment_that_no_provider_could_use_is_refused(part: UserPart, said: str) -> None:
    good = FilePart(media_type="text/plain; charset=utf-8", data=b"x")
    for ask in (
        lambda: startable(RunRequest(message="Look", attachments=(good, part))),
        lambda: check_order(Send(message="Look", attachments=(good, part))),
    ):
        with pytest.raises(InvalidInputError, match="Attachment 2 cannot be sent") as caught:
            ask()
        assert said in str(caught.value)
        assert "pw@" not in str(caught.value)
