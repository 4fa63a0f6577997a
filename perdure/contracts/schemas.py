"""Output schemas: whether a schema can hold an answer to anything, and what of an answer does not fit it.

A schema comes from whoever starts a run. A reference to another address would have the validator fetch it, and one that
leads back to itself would never end: so a schema may refer to its own parts alone, and is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from pydantic import JsonValue
from referencing import Registry

Schema = dict[str, JsonValue]
Path = tuple[str | int, ...]

TOLD_CHARACTERS = 500
"""Of what is wrong: a validator repeats the whole value."""

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_NO_REMOTE: Registry[Any] = Registry()

_HERE_ONE = ("not", "if", "then", "else")
_HERE_LISTED = ("allOf", "anyOf", "oneOf")
_HERE_NAMED = ("dependentSchemas",)
"""What applies a schema to the very same value: a circle of these never ends."""

_INNER_ONE = ("items", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
_INNER_LISTED = ("prefixItems",)
_INNER_NAMED = ("properties", "patternProperties", "$defs", "definitions")


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """What is wrong with a schema, and the keys that lead there."""

    path: Path
    said: str

    def __str__(self) -> str:
        place = f" at {'.'.join(map(str, self.path))}" if self.path else ""
        return f"The output schema cannot be used{place}: {self.said}."


def schema_fault(schema: Schema) -> SchemaFault | None:
    """Why no answer can be held to ``schema``; None when one can."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return SchemaFault(tuple(error.absolute_path), _why_none(error))
    except RecursionError:
        return SchemaFault((), "it is nested too deeply")
    nodes = dict(_nodes(schema, ()))
    for path, node in nodes.items():
        if fault := _bad_reference(schema, node, path, nodes):
            return SchemaFault(path, fault)
    try:
        TopologicalSorter(dict(_same_value(schema, nodes))).prepare()
    except CycleError as error:
        return SchemaFault(error.args[1][0], "it refers to itself without end")
    return None


def misfit(value: JsonValue, schema: Schema) -> str:
    """What of ``value`` does not fit ``schema``, as a sentence; empty when it fits."""
    validator = Draft202012Validator(schema, registry=_NO_REMOTE)
    try:
        error = best_match(validator.iter_errors(value))
    except Exception as fault:  # noqa: BLE001 - a foreign schema may break its validator; the run must not break with it
        return f"It cannot be checked: {type(fault).__name__.strip('_')}."
    return _told(error) if isinstance(error, ValidationError) else ""


def _told(error: ValidationError) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    return f"{_cut(where.lstrip('.')) or 'It'}: {_cut(error.message)}."


def _why_none(error: SchemaError) -> str:
    if error.absolute_path and error.absolute_path[-1] == "type":
        return f"{_cut(repr(error.instance))} is no type; types are {', '.join(_TYPES)}"
    return _cut(error.message)


def _cut(text: str) -> str:
    return text if len(text) <= TOLD_CHARACTERS else text[:TOLD_CHARACTERS] + "…"


def _nodes(schema: JsonValue, path: Path) -> Iterator[tuple[Path, Schema]]:
    """The schema and every schema in it, each with the keys that lead there."""
    if isinstance(schema, dict):
        yield path, schema
        inner = (*_HERE_ONE, *_INNER_ONE), (*_HERE_LISTED, *_INNER_LISTED), (*_HERE_NAMED, *_INNER_NAMED)
        for step, node in _below(schema, *inner):
            yield from _nodes(node, (*path, *step))


def _below(
    schema: Schema, one: tuple[str, ...], listed: tuple[str, ...], named: tuple[str, ...]
) -> Iterator[tuple[Path, JsonValue]]:
    yield from (((key,), schema[key]) for key in one if key in schema)
    for key in listed:
        several = schema.get(key)
        yield from (((key, place), node) for place, node in enumerate(several if isinstance(several, list) else ()))
    for key in named:
        several = schema.get(key)
        yield from (((key, name), node) for name, node in (several if isinstance(several, dict) else {}).items())


def _bad_reference(schema: Schema, node: Schema, path: Path, nodes: Mapping[Path, Schema]) -> str:
    if "$dynamicRef" in node or "$recursiveRef" in node or (path and "$id" in node):
        return "$dynamicRef, $recursiveRef and an inner $id are not taken: refer by $ref to #/$defs/NAME"
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return ""
    if not (reference == "#" or reference.startswith("#/")):
        return f"$ref may lead to parts of the schema alone, as in #/$defs/NAME, not to {_cut(reference)!r}"
    target = _target(schema, reference)
    known = target is not None and (target in nodes or isinstance(_at(schema, target), bool))
    return "" if known else f"$ref leads to no schema: {_cut(reference)!r}"


def _target(schema: Schema, reference: str) -> Path | None:
    """The keys that lead to what ``reference``, a JSON pointer behind a ``#``, points at."""
    path: Path = ()
    for word in reference.split("/")[1:]:
        at = _at(schema, path)
        step = unquote(word).replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and step in at:
            path = (*path, step)
        elif isinstance(at, list) and step.isdecimal() and int(step) < len(at):
            path = (*path, int(step))
        else:
            return None
    return path


def _at(schema: Schema, path: Path) -> JsonValue:
    at: Any = schema
    for step in path:
        at = at[step]
    value: JsonValue = at
    return value


def _same_value(schema: Schema, nodes: Mapping[Path, Schema]) -> Iterator[tuple[Path, list[Path]]]:
    """For each schema those that it applies to the very same value."""
    for path, node in nodes.items():
        applied = [(*path, *step) for step, _ in _below(node, _HERE_ONE, _HERE_LISTED, _HERE_NAMED)]
        reference = node.get("$ref")
        target = _target(schema, reference) if isinstance(reference, str) else None
        yield path, applied if target is None else [*applied, target]
