"""Every record of the contracts, and any value of each, for property tests."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

import perdure.contracts
from perdure.contracts.record import FileRecord, Record
from perdure.contracts.written import Written

FORMS = (Record, FileRecord, Written)
"""What records are made of."""

DEEPEST = 3
"""How deep records are filled in; below, fields that have a default keep it."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
durations = st.timedeltas(min_value=timedelta(microseconds=1), max_value=timedelta(days=400))

SIMPLE: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, st.text(max_size=12)),
    (int, st.integers(min_value=0, max_value=2**53)),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (bytes, st.binary(max_size=8)),
    (object, json_values),
    (JsonValue, json_values),
    (NoneType, st.none()),
    (datetime, st.datetimes(timezones=st.just(UTC))),
    (timedelta, durations),
]


def record_classes() -> list[type[BaseModel]]:
    """Every class of the room that crosses a boundary, in the order of its modules."""
    found: dict[str, type[BaseModel]] = {}
    for module in pkgutil.iter_modules(perdure.contracts.__path__, "perdure.contracts."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Record | FileRecord) and value not in FORMS:
                found.setdefault(f"{value.__module__}.{value.__qualname__}", value)
    return list(found.values())


def members(union: Any) -> tuple[type[BaseModel], ...]:
    """The classes of a discriminated union."""
    inner = get_args(union)[0] if get_origin(union) is Annotated else union
    return get_args(inner)


@st.composite
def records(draw: st.DrawFn, record: type[BaseModel], depth: int = 0) -> BaseModel:
    """Any value of the class."""
    fields = {
        name: draw(_within(field.metadata, field.annotation, depth))
        for name, field in record.model_fields.items()
        if field.is_required() or (depth < DEEPEST and draw(st.booleans()))
    }
    return record(**fields)


def _within(bounds: Iterable[Any], annotation: Any, depth: int) -> st.SearchStrategy[Any]:
    for bound in bounds:
        match bound:
            case Ge(ge=int(least)):
                return st.integers(min_value=least, max_value=2**53)
            case MinLen(min_length=shortest):
                return st.text(min_size=shortest, max_size=12)
            case FieldInfo():
                return _within(bound.metadata, annotation, depth)
    return _values(annotation, depth)


def _values(annotation: Any, depth: int) -> st.SearchStrategy[Any]:
    found = next((values for known, values in SIMPLE if annotation is known), None)
    return st.one_of(*_choices(annotation, depth)) if found is None else found


def _choices(annotation: Any, depth: int) -> Iterator[st.SearchStrategy[Any]]:
    arguments = get_args(annotation)
    match get_origin(annotation):
        case None if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield records(annotation, depth + 1)
        case origin if origin is Annotated:
            yield _within(arguments[1:], arguments[0], depth)
        case origin if origin is Literal:
            yield st.sampled_from(arguments)
        case origin if origin in (Union, UnionType):
            yield from (_values(argument, depth) for argument in arguments)
        case origin if origin is tuple:
            yield st.lists(_values(arguments[0], depth), max_size=2 if depth < DEEPEST else 0).map(tuple)
        case origin if origin is dict:
            yield st.dictionaries(_values(arguments[0], depth), _values(arguments[1], depth), max_size=2)
        case _:
            raise TypeError(f"no values are known for {annotation}")
