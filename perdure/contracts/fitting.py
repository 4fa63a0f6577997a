"""Arguments and the schema of the tool that they are for: what of them does not fit, so that it can be mended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import validator_for
from pydantic import JsonValue
from referencing import Registry

MAX_VIOLATIONS = 5
MAX_SHOWN = 160

_NO_REMOTE: Registry[Any] = Registry()
"""The default registry of jsonschema would fetch a ``$ref`` to a URL: a tool's schema must not make us do that."""


def unfit(arguments: dict[str, JsonValue], schema: dict[str, JsonValue]) -> str:
    """What of ``arguments`` does not fit ``schema``, after "The arguments"; empty when all does."""
    validator = validator_for(schema, default=Draft202012Validator)(schema, registry=_NO_REMOTE)
    found = sorted(validator.iter_errors(arguments), key=lambda error: [str(step) for step in error.absolute_path])
    lines = list(dict.fromkeys(line for error in found for line in _violations(error)))
    if not lines:
        return ""
    more = len(lines) - MAX_VIOLATIONS
    listed = "\n".join(f"- {line}" for line in lines[:MAX_VIOLATIONS]) + (f"\n- and {more} more" if more > 0 else "")
    return f"do not fit its schema:\n{listed}"


def _violations(error: ValidationError) -> Iterator[str]:
    place = _place(error.absolute_path)
    instance, expected = error.instance, error.validator_value
    if error.validator == "required" and isinstance(instance, Mapping) and isinstance(expected, list):
        yield from (f"{place}.{name}: is missing" for name in expected if name not in instance)
    elif error.validator == "additionalProperties" and expected is False and isinstance(instance, Mapping):
        known = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
        names = ", ".join(list(known)[:40]) or "none"
        unknown = [name for name in instance if name not in known]
        yield from (f"{place}.{_cut(str(name), 60)}: is unknown; known names: {names}" for name in unknown)
    else:
        rule = _cut(json.dumps({str(error.validator): expected}, ensure_ascii=False, default=str), MAX_SHOWN)
        yield f"{place}: is {_excerpt_json(instance)}, expected {rule}"


def _place(path: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{_cut(step, 60)}" for step in path)


def _excerpt_json(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str), MAX_SHOWN)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
