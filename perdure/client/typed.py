"""Types that callers name for a run's output, to make a schema of and to read with."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import SchemaError

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.failures import bounded
from perdure.contracts.schemas import Schema

R = TypeVar("R")

_FOREIGN = (PydanticUserError, PydanticUndefinedAnnotation, SchemaError, TypeError, NameError)


def adapter_of(kind: type[R]) -> TypeAdapter[R]:
    """What reads data as ``kind``. Raises InvalidInputError for what is no type, or none that data can be read as."""
    # Callers without a type checker give anything.
    given: object = kind
    if isinstance(given, dict | list | str | bytes | int | float | None):
        said = "a JSON Schema goes into RunRequest(output=…)" if isinstance(given, dict) else "such as a pydantic model"
        raise InvalidInputError(bounded(f"The type of an output is a type, not {given!r}: {said}."))
    try:
        return TypeAdapter(kind)
    except _FOREIGN as error:
        raise _none_of(kind, error) from None


def schema_of(kind: type[Any]) -> Schema:
    """The JSON Schema of ``kind``. Raises InvalidInputError when there is none."""
    adapter = adapter_of(kind)
    try:
        return adapter.json_schema()
    except _FOREIGN as error:
        raise _none_of(kind, error) from None


def _none_of(kind: object, error: Exception) -> InvalidInputError:
    said = str(error).partition("\n")[0].rstrip(".")
    return InvalidInputError(bounded(f"There is no JSON Schema of output={kind!r}: {said}."))
