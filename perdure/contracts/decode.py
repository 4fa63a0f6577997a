"""JSON that a model or a person wrote, read so that every other reader of the history can read it again.

Python's own reader takes more than JSON (NaN, numbers that become infinite), lets the last of two equal keys win
unseen, and gives halves of surrogate pairs and depths that cannot be written down again.
"""

from __future__ import annotations

import json

from pydantic import JsonValue

DEEPEST = 100
"""Levels at most: the serializer of what is recorded ends at about 250."""

MOST_DIGITS = 1_000


def decode(text: str) -> JsonValue:
    """The JSON value in ``text``. Raises ValueError, which says why it is none that can be kept."""
    try:
        value: JsonValue = json.loads(
            text, parse_constant=_refuse_constant, parse_int=_whole, parse_float=_finite, object_pairs_hook=_once_each
        )
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEEPEST} levels") from None
    if _deeper(value):
        raise ValueError(f"it is nested deeper than {DEEPEST} levels")
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a string holds half of a surrogate pair") from None
    return value


def _refuse_constant(word: str) -> JsonValue:
    raise ValueError(f"{word} is no JSON")


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text)} digits is too long")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _once_each(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:100]!r} is there twice")
    return found


def _deeper(value: JsonValue) -> bool:
    level: list[JsonValue] = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return True


def _inside(value: JsonValue) -> list[JsonValue]:
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case _:
            return []
