from __future__ import annotations

from typing import Any

import pytest

from perdure.providers.schemas import for_anthropic, for_gemini, for_openai, strict

CITY: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"city": {"type": "string"}, "sights": {"type": "array", "items": {"$ref": "#/$defs/sight"}}},
    "required": ["city", "sights"],
    "additionalProperties": False,
    "$defs": {
        "sight": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}


def changed(**fields: Any) -> dict[str, Any]:
    return {**CITY, **fields}


def test_a_closed_schema_is_strict() -> None:
    assert strict(CITY)
    assert for_openai(CITY) == {"name": "answer", "schema": CITY, "strict": True}


@pytest.mark.parametrize(
    "schema",
    [
        changed(additionalProperties=True),
        changed(required=["city"]),
        changed(properties={**CITY["properties"], "city": {"type": "string", "minLength": 1}}),
        changed(**{"$defs": {"sight": {"type": "object", "properties": {}}}}),
        changed(anyOf=[{"type": "object", "properties": {"a": {}}}]),
    ],
)
def test_an_open_or_richer_schema_is_sent_without_the_promise(schema: dict[str, Any]) -> None:
    assert not strict(schema)
    assert for_openai(schema) == {"name": "answer", "schema": schema, "strict": False}
    assert schema.get("required") == ["city"] or for_anthropic(schema) is None


def test_a_root_that_is_no_object_goes_to_gemini_alone() -> None:
    listed: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
    assert for_openai(listed) is None
    assert for_anthropic(listed) is None
    assert for_gemini(listed) == listed


def test_the_word_that_names_the_draft_stays_away_where_it_is_refused() -> None:
    lean: dict[str, Any] = {key: value for key, value in CITY.items() if key != "$schema"}
    assert for_anthropic(CITY) == lean
    assert for_gemini(CITY) == lean


@pytest.mark.parametrize(
    "node", [{"const": 1}, {"allOf": [{}]}, {"not": {}}, {"patternProperties": {}}, {"type": "string", "pattern": "a"}]
)
def test_words_that_gemini_does_not_know_keep_the_schema_away(node: dict[str, Any]) -> None:
    assert for_gemini(changed(properties={"city": node})) is None


def test_a_property_may_be_called_like_a_word_of_the_language() -> None:
    odd = changed(properties={"not": {"type": "string"}, "pattern": {"type": "string"}}, required=["not", "pattern"])
    assert for_anthropic(odd) is not None
    assert for_gemini(odd) is not None
    assert strict(odd)
