from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from perdure.client.typed import adapter_of, schema_of
from perdure.contracts.errors import InvalidInputError


class Count(BaseModel):
    count: int


class Astray(BaseModel):
    count: "Nowhere"  # type: ignore[name-defined]  # noqa: F821, UP037 - a model whose author forgot an import


def test_a_type_gives_its_schema_and_reads_what_fits_it() -> None:
    assert schema_of(list[Count])["type"] == "array"
    assert adapter_of(Count).validate_python({"count": 3}) == Count(count=3)


@pytest.mark.parametrize("kind", [{"type": "object"}, {"type": "objekt"}, "Count", 5, ["a"], None])
def test_what_is_no_type_is_refused(kind: Any) -> None:
    for take in (adapter_of, schema_of):
        with pytest.raises(InvalidInputError, match="is a type, not"):
            take(kind)


def test_a_schema_is_told_where_it_goes() -> None:
    schema: Any = {"type": "object"}
    with pytest.raises(InvalidInputError, match=r"a JSON Schema goes into RunRequest\(output=…\)"):
        schema_of(schema)


@pytest.mark.parametrize("kind", [Astray, object()])
def test_a_type_that_cannot_be_used_is_refused(kind: Any) -> None:
    with pytest.raises(InvalidInputError, match="There is no JSON Schema of output="):
        schema_of(kind)
