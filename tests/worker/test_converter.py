"""What crosses to Temporal comes back as it was, for every record of ours."""

from __future__ import annotations

import importlib
import pkgutil
import typing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError
from temporalio.api.common.v1 import Payload

import perdure.contracts
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import AssistantMessage, FilePart, Message, TextPart, UserMessage
from perdure.contracts.record import Record
from perdure.contracts.requests import RunRequest
from perdure.contracts.state import State
from perdure.worker.converter import data_converter

JSON: st.SearchStrategy[JsonValue] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=3,
)
st.register_type_strategy(typing.cast(Any, JsonValue), JSON)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))

for module in pkgutil.iter_modules(perdure.contracts.__path__):
    importlib.import_module(f"perdure.contracts.{module.name}")


def records(kind: type[Record]) -> list[type[Record]]:
    """All records below ``kind``."""
    below = [record for child in kind.__subclasses__() for record in records(child)]
    return [kind, *below] if kind is not Record else below


OURS = sorted(
    {record for record in records(Record) if record.__module__.startswith("perdure.contracts.")},
    key=lambda record: record.__qualname__,
)


async def through(value: Any, kind: Any) -> Any:
    converter = data_converter()
    payloads = await converter.encode([value])
    assert payloads[0].metadata["encoding"] == b"json/plain"
    return (await converter.decode(payloads, [kind]))[0]


@pytest.mark.filterwarnings("ignore:Ignoring unsupported Strict")  # a strict bool is a bool, which is what it makes
@pytest.mark.parametrize("record", OURS, ids=lambda record: record.__qualname__)
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(data=st.data())
async def test_every_record_comes_back_as_it_was(record: type[Record], data: st.DataObject) -> None:
    try:
        value = data.draw(st.from_type(record))
    except (InvalidInputError, ValidationError):
        reject()  # Hypothesis does not see the bounds of all fields, which the records hold to.
    assert await through(value, record) == value


async def test_a_union_comes_back_as_the_member_that_it_was() -> None:
    message = UserMessage(message_id="u1", parts=(TextPart(text="a"), FilePart(name="b", data=b"\x00\xff")))
    assert await through(message, Message) == message


async def test_plain_json_of_another_client_is_read_and_unknown_fields_are_ignored() -> None:
    payload = Payload(metadata={"encoding": b"json/plain"}, data=b'{"message": "hi", "from_the_future": {"a": 1}}')
    assert await data_converter().decode([payload], [RunRequest]) == [RunRequest(message="hi")]


def test_the_records_of_all_rooms_are_among_those_checked() -> None:
    assert {State, AssistantMessage, RunRequest} <= set(OURS)
