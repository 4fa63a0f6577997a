from __future__ import annotations

import json

import pytest

from perdure.contracts.messages import AssistantMessage, CallPart, FilePart, ToolMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.encoding import (
    arguments_sent,
    arguments_text,
    call_ids,
    data_url,
    file_text,
    result_text,
)


def call(number: int, provider_id: str = "", text: str = "{}", **fields: object) -> CallPart:
    values = {"call_id": f"t1s1c{number}", "tool": "read", "arguments_text": text, "provider_call_id": provider_id}
    return CallPart.model_validate({**values, **fields})


def test_a_call_keeps_its_makers_id_where_that_is_unique_and_fits_and_gets_ours_elsewhere() -> None:
    own = AssistantMessage(
        message_id="t1s1",
        parts=(call(1, "a"), call(2, "twice"), call(3, "twice"), call(4), call(5, "too-long")),
        model="openai:gpt-4o",
    )
    foreign = AssistantMessage(message_id="t1s2", parts=(call(6, "b"),), model="mistral:x")
    request = ModelRequest(model="openai:gpt-5", messages=(own, foreign))
    assert call_ids(request, fits=lambda sent: 0 < len(sent) < 6) == {
        "t1s1c1": "a",
        **{f"t1s1c{number}": f"t1s1c{number}" for number in range(2, 7)},
    }
    assert call_ids(request)["t1s1c5"] == "too-long"


@pytest.mark.parametrize(
    ("text", "arguments", "sent"),
    [
        ('{"a": 1.0}', {"a": 1.0}, '{"a": 1.0}'),
        (" ", {}, "{}"),
        ('{"é', None, '{"invalid_json": "{\\"é"}'),
    ],
)
def test_arguments_go_as_they_came_or_quoted_in_an_object(text: str, arguments: object, sent: str) -> None:
    made = call(1, text=text, arguments=arguments)
    assert arguments_text(made) == sent
    assert arguments_sent(made) == json.loads(sent)


def test_a_result_is_its_text_else_its_data_else_nothing() -> None:
    def said(**fields: object) -> str:
        values = {"message_id": "r", "call_id": "c", "tool": "read", **fields}
        return result_text(ToolMessage.model_validate(values))

    assert said(text="A", data={"a": 1}) == "A"
    assert said(data={"a": 1}) == '{"a": 1}'
    assert said() == ""


def test_a_file_of_text_is_said_under_its_name() -> None:
    assert file_text(FilePart(media_type="text/csv", name="a.csv", data=b"x,\xff")) == "File a.csv:\n\nx,\ufffd"
    assert file_text(FilePart(media_type="text/csv", data=b"x")) == "File without a name:\n\nx"
    assert data_url("image/png", b"abc") == "data:image/png;base64,YWJj"
