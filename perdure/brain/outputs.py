"""Typed output: whether an answer fits the schema that was asked for, and what is wrong with it when it does not."""

from __future__ import annotations

import json
import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from pydantic import JsonValue

from perdure.contracts.errors import bounded

Schema = dict[str, JsonValue]

_FENCED = re.compile(r"^```[a-zA-Z]*\s*\n(.*)\n```$", re.DOTALL)
PROBLEM_CHARACTERS = 500


def read_output(text: str, schema: Schema) -> tuple[JsonValue, str]:
    """The object in an answer, and the problem with it: exactly one of the two is telling.

    A fence around the JSON is taken off: many models cannot be kept from drawing one.
    """
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    try:
        value: JsonValue = json.loads(fenced.group(1) if fenced else stripped)
    except ValueError as error:
        return None, f"It is no JSON: {error}."
    problem = _misfit(value, schema)
    return (None, problem) if problem else (value, "")


def schema_fault(schema: Schema) -> str:
    """What is wrong with a schema itself, or nothing."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return bounded(f"The output schema is none: {error.message}")
    return ""


def _misfit(value: Any, schema: Schema) -> str:
    try:
        error = best_match(Draft202012Validator(schema).iter_errors(value))
    except Exception as fault:  # noqa: BLE001 - a foreign schema may break its validator; the run must not break with it
        return f"It cannot be checked: {type(fault).__name__}."
    return _told(error) if isinstance(error, ValidationError) else ""


def _told(error: ValidationError) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    said = error.message if len(error.message) <= PROBLEM_CHARACTERS else error.message[:PROBLEM_CHARACTERS] + "…"
    return f"{where.lstrip('.') or 'It'}: {said}."
