"""What crosses to Temporal comes back as it was, for every record of ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from temporalio.api.common.v1 import Payload

from perdure.contracts.messages import AssistantMessage, FilePart, Message, TextPart, UserMessage
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import State
from perdure.worker.converter import data_converter
from tests.contracts.records import record_classes, records


async def through(value: Any, kind: Any) -> Any:
    converter = data_converter()
    payloads = await converter.encode([value])
    assert payloads[0].metadata["encoding"] == b"json/plain"
    return (await converter.decode(payloads, [kind]))[0]


@pytest.mark.parametrize("record", record_classes(), ids=lambda record: record.__name__)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(data=st.data())
async def test_every_record_comes_back_as_it_was(record: type[BaseModel], data: st.DataObject) -> None:
    value = data.draw(records(record))
    assert await through(value, record) == value


async def test_a_union_comes_back_as_the_member_that_it_was() -> None:
    message = UserMessage(message_id="u1", parts=(TextPart(text="a"), FilePart(name="b", data=b"\x00\xff")))
    assert await through(message, Message) == message


async def test_plain_json_of_another_client_is_read_and_unknown_fields_are_ignored() -> None:
    payload = Payload(metadata={"encoding": b"json/plain"}, data=b'{"message": "hi", "from_the_future": {"a": 1}}')
    assert await data_converter().decode([payload], [RunRequest]) == [RunRequest(message="hi")]


def test_the_records_of_all_rooms_are_among_those_checked() -> None:
    assert {State, AssistantMessage, RunRequest} <= set(record_classes())
