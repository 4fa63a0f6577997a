"""Arguments: whether a call's arguments are what its tool takes, and if not, a sentence that lets the model do better.

Three faults are told apart, since each has its own remedy: text that was cut off (shorten or split), text that is not
JSON (write it right), and JSON that does not fit the schema (look at the schema).
"""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from perdure.authority.scope import quoted
from perdure.contracts.approvals import Verdict
from perdure.contracts.decode import decode
from perdure.contracts.fitting import unfit
from perdure.contracts.messages import CallPart
from perdure.contracts.tools import ToolSpec

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
    fault = _unreadable(part.arguments_text) if part.arguments is None else unfit(part.arguments, tool.parameters)
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


def _excerpt(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
