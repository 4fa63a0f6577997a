"""Which JSON Schemas each protocol can hold an answer to: none takes all of JSON Schema.

A schema that a protocol would refuse, or hold an answer to only in part while it promises more, is not sent: the prompt
asks for it in any case, and the answer is checked in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from perdure.providers.lenient import Json

NAME = "answer"
"""What an answer's schema is called where the protocol wants a name."""

_INNER = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")

_PLAIN = frozenset(
    {
        "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs",
        "definitions", "description", "title", "default", "$schema",
    }
)  # fmt: skip
"""What both OpenAI's strict form and Anthropic take."""

_STRICT = _PLAIN | {
    "pattern", "format", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minItems",
    "maxItems",
}  # fmt: skip

_GEMINI = _PLAIN - {"const"} | {
    "$id", "$anchor", "format", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "oneOf",
}  # fmt: skip


def strict(schema: Mapping[str, JsonValue]) -> bool:
    """Whether OpenAI's strict form takes it: every object is closed and requires all of its properties."""
    return all(
        set(node) <= _STRICT and _closed(node) and set(_properties(node)) == set(_required(node))
        for node in _nodes(schema)
    )


def for_openai(schema: Mapping[str, JsonValue]) -> Json | None:
    """The named schema for OpenAI's protocols; None for one whose root is no object, which they refuse."""
    if not _is_object(schema):
        return None
    return {"name": NAME, "schema": dict(schema), "strict": strict(schema)}


def for_anthropic(schema: Mapping[str, JsonValue]) -> Json | None:
    """The schema for Anthropic; None for one with words that it refuses, or with objects that are open."""
    fits = _is_object(schema) and all(set(node) <= _PLAIN and _closed(node) for node in _nodes(schema))
    return {key: value for key, value in schema.items() if key != "$schema"} if fits else None


def for_gemini(schema: Mapping[str, JsonValue]) -> Json | None:
    """The schema for Gemini; None for one with words that it does not know."""
    fits = all(set(node) <= _GEMINI for node in _nodes(schema))
    return {key: value for key, value in schema.items() if key != "$schema"} if fits else None


def _nodes(schema: Mapping[str, JsonValue]) -> Iterator[Mapping[str, JsonValue]]:
    """The schema and every schema in it."""
    yield schema
    inner: list[JsonValue] = [schema.get(key) for key in _INNER]
    for key in _LISTED:
        listed = schema.get(key)
        inner += listed if isinstance(listed, list) else []
    for key in _NAMED:
        named = schema.get(key)
        inner += named.values() if isinstance(named, dict) else []
    for node in inner:
        if isinstance(node, dict):
            yield from _nodes(node)


def _is_object(schema: Mapping[str, JsonValue]) -> bool:
    return schema.get("type") == "object" or ("type" not in schema and "properties" in schema)


def _closed(node: Mapping[str, JsonValue]) -> bool:
    return not _is_object(node) or node.get("additionalProperties") is False


def _properties(node: Mapping[str, JsonValue]) -> list[str]:
    properties = node.get("properties")
    return [*properties] if isinstance(properties, dict) else []


def _required(node: Mapping[str, JsonValue]) -> list[str]:
    required = node.get("required")
    return [str(name) for name in required] if isinstance(required, list) else []
