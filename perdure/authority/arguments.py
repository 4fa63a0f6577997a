"""Arguments: whether a call's arguments are what its tool takes, and if not, a sentence that lets the model do better.

Three faults are told apart, since each has its own remedy: text that was cut off (shorten or split), text that is not
JSON (write it right), and JSON that does not fit the schema (look at the schema).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import validator_for
from pydantic import JsonValue
from referencing import Registry

from perdure.authority.scope import quoted
from perdure.contracts.approvals import Verdict
from perdure.contracts.decode import decode
from perdure.contracts.messages import CallPart
from perdure.contracts.tools import ToolSpec

MAX_VIOLATIONS = 5
MAX_SHOWN = 160

_NO_REMOTE: Registry[Any] = Registry()
"""The default registry of jsonschema would fetch a ``$ref`` to a URL: a tool's schema must not make us do that."""

_UNFINISHED = re.compile(
    r"""\s*(?:
        "(?:[^"\\]|\\.)*\\?              # a string that does not end
      | \\?(?:u[0-9a-fA-F]{0,4})?         # an escape in it
      | -?                                # a number
      | \.?(?:\d*[eE][+-]?)?
      | t|tr|tru|f|fa|fal|fals|n|nu|nul
    )\Z""",
    re.VERBOSE | re.DOTALL,
)
"""What may stand from the place of a decoder's complaint to the end, when nothing but the rest is missing."""


def arguments_verdict(part: CallPart, tool: ToolSpec) -> Verdict | None:
    """A denial that says what is wrong with the call's arguments; None when they are what the tool takes."""
    fault = _unreadable(part.arguments_text) if part.arguments is None else _unfit(part.arguments, tool.parameters)
    if not fault:
        return None
    return Verdict(
        decision="deny", rule="arguments", reason=f"The call of {quoted(tool.name)} did not run. Its arguments {fault}"
    )


def is_truncated(text: str) -> bool:
    """Whether the text is the beginning of a JSON value and only its rest is missing."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return bool(text.strip()) and _UNFINISHED.match(text, error.pos) is not None
    except (ValueError, RecursionError):
        return False
    return False


def _unreadable(text: str) -> str:
    if is_truncated(text):
        return (
            f"are cut off: the JSON ends after {len(text):,} characters, at {_excerpt(text[-60:])}. "
            "Send the whole object; when it is long, split the work into several calls."
        )
    try:
        value = decode(text)
    except json.JSONDecodeError as error:
        near = _excerpt(text[max(0, error.pos - 30) : error.pos + 30])
        return (
            f"are not JSON: {error.msg} (line {error.lineno}, column {error.colno}, near {near}). "
            "Send exactly one JSON object."
        )
    except ValueError as error:
        return f"are not JSON that can be read: {error}. Send exactly one JSON object."
    return f"are a JSON {_kind(value)}. Send a JSON object with the arguments by name."


def _kind(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case _:
            return "array" if isinstance(value, list) else "object"


def _unfit(arguments: dict[str, JsonValue], schema: dict[str, JsonValue]) -> str:
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


def _excerpt(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
