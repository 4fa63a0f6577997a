"""Reading JSON that others wrote: the value when it has the expected form, else the form's empty value."""

from __future__ import annotations

import base64
import json

from pydantic import JsonValue

Json = dict[str, JsonValue]
"""A JSON object."""


def loads(text: str | bytes) -> JsonValue:
    """The JSON value in ``text``. Raises ValueError, also where the standard library raises RecursionError."""
    try:
        value: JsonValue = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    return value


def an_object(value: JsonValue) -> Json:
    """``value`` when it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def a_list(value: JsonValue) -> list[JsonValue]:
    """``value`` when it is a list, else []."""
    return value if isinstance(value, list) else []


def a_text(value: JsonValue) -> str:
    """``value`` when it is a string, else ""."""
    return value if isinstance(value, str) else ""


def some_bytes(value: JsonValue) -> bytes:
    """What ``value`` holds when it is a string of base64, else b""."""
    try:
        return base64.b64decode(a_text(value), validate=True)
    except ValueError:
        return b""


def a_count(value: JsonValue) -> int:
    """``value`` when it is a number of at least zero, as an integer, else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e18:
        return 0
    return int(value)


def a_word(value: JsonValue) -> str:
    """A string or an integer as a string, else "": error codes come as either."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
