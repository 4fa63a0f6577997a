"""Records as brief JSON: only what was given, for requests and orders that other releases and languages read.

A field that nobody gave is left out, so that a reader of an earlier release, which refuses what it does not know, reads
all that it can honour and nothing else.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

DISCRIMINATORS = frozenset({"role", "kind"})
"""Fields that say what a record is; they stand in every form of it."""


def brief(record: BaseModel) -> dict[str, Any]:
    """The record as JSON values, without fields that say nothing: not given, or given as they are by default.

    A record whose fields count even at their default when they are given says so: ``given_counts`` (`Limits` does).
    """
    counts = getattr(record, "given_counts", False)
    return {
        name: _value(getattr(record, name))
        for name, field in type(record).model_fields.items()
        if name in DISCRIMINATORS
        or (name in record.model_fields_set and (counts or getattr(record, name) != field.default))
    }


def _value(value: Any) -> Any:
    match value:
        case BaseModel():
            return brief(value)
        case tuple() | list():
            return [_value(item) for item in value]
        case _:
            return to_jsonable_python(value, bytes_mode="base64")
