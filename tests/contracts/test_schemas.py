from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from perdure.contracts.schemas import TOLD_CHARACTERS, Schema, misfit, schema_fault

TREE: Schema = {
    "$ref": "#/$defs/Node",
    "$defs": {
        "Node": {"type": "object", "properties": {"inner": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        TREE,
        {"type": "object", "properties": {"$ref": {"type": "string"}, "type": {"enum": ["a"]}}},
        {"type": "object", "properties": {"more": {"$ref": "#"}}},
        {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": {"anyOf": [{"type": "string"}, True]}}},
        {"allOf": [{"$ref": "#/allOf/1"}, {"type": "string"}]},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/a", "type": "null"},
        TypeAdapter(list[dict[str, int | None]]).json_schema(),
    ],
)
def test_a_schema_that_answers_can_be_held_to_has_no_fault(schema: Schema) -> None:
    assert schema_fault(schema) is None


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "objekt"}, "at type: 'objekt' is no type; types are array, boolean, integer"),
        ({"properties": {"a": {"type": "texst"}}}, "at properties.a.type: 'texst' is no type"),
        ({"properties": []}, "at properties: [] is not of type 'object'"),
        ({"pattern": "("}, "at pattern: '(' is not a 'regex'"),
        ({"$ref": "http://example.org/a.json"}, "$ref may lead to parts of the schema alone"),
        ({"items": {"$ref": "other.json#/a"}}, "at items: $ref may lead to parts of the schema alone"),
        ({"$ref": "#/$defs/Nod"}, "$ref leads to no schema: '#/$defs/Nod'"),
        ({"$ref": "#/required/0", "required": ["a"]}, "$ref leads to no schema"),
        ({"$dynamicRef": "#a"}, "$dynamicRef, $recursiveRef and an inner $id are not taken"),
        ({"items": {"$id": "https://example.org/b"}}, "at items: $dynamicRef"),
        ({"$ref": "#"}, "it refers to itself without end"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#"}]}, "it refers to itself without end"),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}},
            "it refers to itself without end",
        ),
    ],
)
def test_a_schema_that_no_answer_can_be_held_to_says_where_and_why(schema: Schema, said: str) -> None:
    fault = schema_fault(schema)
    assert said in str(fault)
    assert str(fault).startswith("The output schema cannot be used")


def test_a_schema_of_many_ways_to_the_same_part_is_checked_in_no_time() -> None:
    parts: Schema = {f"p{n}": {"anyOf": [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(200)}
    assert schema_fault({"$ref": "#/$defs/p0", "$defs": {**parts, "p200": {"type": "string"}}}) is None


def test_a_value_that_fits_has_no_misfit_and_another_says_where_it_does_not() -> None:
    schema: Schema = {"type": "object", "properties": {"ages": {"type": "array", "items": {"type": "integer"}}}}
    assert misfit({"ages": [1, 2]}, schema) == ""
    assert misfit({"ages": [1, "two"]}, schema) == "ages[1]: 'two' is not of type 'integer'."
    assert misfit([], schema) == "It: [] is not of type 'object'."


def test_what_does_not_fit_is_told_within_bounds() -> None:
    assert len(misfit("x" * 100_000, {"type": "integer"})) < TOLD_CHARACTERS + 20


def test_a_reference_to_an_address_is_never_fetched() -> None:
    assert misfit({}, {"$ref": "http://127.0.0.1:1/schema"}) == "It cannot be checked: WrappedReferencingError."
