from __future__ import annotations

from pydantic import JsonValue

from perdure.contracts.fitting import unfit

SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}},
    "required": ["amount"],
    "additionalProperties": False,
}


def test_arguments_that_fit_have_nothing_to_mend() -> None:
    assert unfit({"amount": 5}, SCHEMA) == ""


def test_all_that_does_not_fit_is_named_with_its_place() -> None:
    told = unfit({"amount": "x", "sum": 1}, SCHEMA)

    assert told.startswith("do not fit its schema:")
    assert '- $.amount: is "x", expected {"type": "integer"}' in told
    assert "- $.sum: is unknown; known names: amount" in told


def test_a_schema_of_an_older_draft_is_read_as_that_draft() -> None:
    pair: dict[str, JsonValue] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"pair": {"items": [{"type": "integer"}, {"type": "string"}]}},
    }

    assert unfit({"pair": [1, "a"]}, pair) == ""
    assert "$.pair[1]" in unfit({"pair": [1, 2]}, pair)
