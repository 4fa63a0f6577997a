from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from perdure.contracts.events import AnyEvent
from perdure.contracts.instructions import Instruction
from perdure.contracts.outcomes import AnyOutcome
from perdure.contracts.phases import Phase
from perdure.contracts.record import FileRecord, Record
from perdure.contracts.requests import Order
from tests.contracts.records import members, record_classes, records

EVERY = pytest.mark.parametrize("record", record_classes(), ids=lambda record: record.__name__)


@EVERY
@given(data=st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_every_record_comes_back_from_json_as_it_was(record: type[BaseModel], data: st.DataObject) -> None:
    value = data.draw(records(record))

    assert record.model_validate_json(value.model_dump_json()) == value
    assert record.model_validate(value.model_dump(mode="json")) == value


@EVERY
def test_every_record_is_frozen(record: type[BaseModel]) -> None:
    assert record.model_config["frozen"]


@EVERY
@given(data=st.data())
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_fields_of_a_newer_release_are_ignored_by_wire_records(record: type[BaseModel], data: st.DataObject) -> None:
    value = data.draw(records(record))
    newer = {**value.model_dump(mode="json"), "added_later": {"a": [1]}}

    if issubclass(record, Record):
        assert record.model_validate(newer) == value
    else:
        with pytest.raises(ValidationError, match="added_later"):
            record.model_validate(newer)


def test_what_people_write_by_hand_refuses_unknown_fields() -> None:
    class Written(FileRecord):
        name: str = ""

    with pytest.raises(ValidationError, match="nmae"):
        Written.model_validate({"nmae": "x"})


@EVERY
def test_no_record_can_be_changed_through_a_collection_that_pydantic_checks(record: type[BaseModel]) -> None:
    lists = [name for name, field in record.model_fields.items() if str(field.annotation).startswith(("list", "set"))]

    assert lists == []


@pytest.mark.parametrize("union", [Phase, Instruction, AnyOutcome, Order], ids=str)
def test_the_kind_of_a_member_is_its_class_name_in_snake_case(union: object) -> None:
    for member in members(union):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", member.__name__).lower()
        assert member.model_fields["kind"].default == name


def test_kinds_of_events_are_their_names_and_no_two_share_one() -> None:
    kinds = {member.__name__: member.model_fields["kind"].default for member in members(AnyEvent)}

    assert {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in kinds} == set(kinds.values())
    assert len(set(kinds.values())) == len(kinds)
