"""Text as it may be shown: nothing in it commands the terminal, and it is as long as a reader can take.

Models, tools and senders write what is printed. An escape sequence could hide what a person approves, and a character
that turns the direction of writing could show it the other way round: both are shown as what they are.
"""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal

from pydantic import JsonValue

from perdure.contracts.usage import NANO, Cost, Usage

COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Control characters but for tab and new line, invisible characters, and those that turn the direction of writing."""

_BREAK = re.compile(r"\s*\n\s*")
_ITEM = re.compile(r"\s*\n\s*- ")
_FIRST_ITEM = re.compile(r":\s*\n\s*- ")

ARGUMENT_CHARACTERS = 200
RESULT_CHARACTERS = 400
RESULT_LINES = 3


def plain(text: str) -> str:
    """``text`` with every character that a terminal would act upon, or hide, written as an escape."""
    return COMMANDING.sub(_escaped, text.replace("\r\n", "\n"))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str, limit: int) -> str:
    """``text`` on one line, cut to ``limit`` characters with a note of how many are missing.

    The items of a list, which begin with a dash, are parted by semicolons.
    """
    shown = _ITEM.sub("; ", _FIRST_ITEM.sub(": ", plain(text)))
    shown = _BREAK.sub(" ", shown).replace("\t", " ")
    return shown if len(shown) <= limit else f"{shown[:limit]}… (+{len(shown) - limit:,} characters)"


def sentences(first: str, second: str) -> str:
    """Both behind each other, parted by a full stop; ``second`` may be empty."""
    return f"{first}{'' if first.endswith(('.', '!', '?')) else '.'} {second}" if second else first


def first_lines(text: str, *, lines: int = RESULT_LINES, characters: int = RESULT_CHARACTERS) -> tuple[str, ...]:
    """The first lines of ``text`` with a last one that says how many are missing; each line bounded."""
    every = plain(text).strip("\n").split("\n")
    shown = [one_line(line, max(40, characters // lines)) for line in every[:lines]]
    left = len(every) - len(shown)
    return (*shown, f"(+{counted(left, 'line')})") if left else tuple(shown)


def as_json(value: JsonValue, indent: int | None = None) -> str:
    """``value`` as JSON that people read: no escapes for letters of other scripts; on one line without ``indent``."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def arguments_line(arguments: dict[str, JsonValue] | None, written: str) -> str:
    """A call's arguments on one bounded line; what the model wrote when that is no JSON object."""
    return one_line(written if arguments is None else as_json(arguments), ARGUMENT_CHARACTERS)


def money(cost: Cost) -> str:
    """``$0.0123``; four significant digits below a cent, and a word about calls whose price is unknown."""
    dollars = cost.nano_dollars / NANO
    if dollars >= 1 or not dollars:
        known = f"${dollars:.2f}"
    else:
        known = f"${dollars:.4f}" if dollars >= 0.01 else f"${Decimal(f'{dollars:.4g}'):f}"
    if not cost.unpriced:
        return known
    unknown = f"{counted(cost.unpriced, 'model call')} of unknown price"
    return f"{known} and {unknown}" if cost.nano_dollars else unknown


def taken(usage: Usage, cost: Cost) -> str:
    """What a turn or a run took: ``1,234 tokens (1,000 in, 234 out), $0.0123``.

    Where answers broke off or never came, it is ``at least`` that.
    """
    if usage.incomplete and not usage.total_tokens:
        return f"tokens unknown, {money(cost)}"
    least = "at least " if usage.incomplete else ""
    tokens = f"{least}{usage.total_tokens:,} tokens ({usage.input_tokens:,} in, {usage.output_tokens:,} out)"
    return f"{tokens}, {least if cost.nano_dollars else ''}{money(cost)}"


def counted(number: int, noun: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def lasting(span: timedelta) -> str:
    """A span of time in its two largest units: ``45 s``, ``5 min``, ``2 h 5 min``, ``3 d 2 h``."""
    seconds = max(0, int(span.total_seconds()))
    for size, name, smaller, smaller_name in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min")):
        if seconds >= size:
            rest = seconds % size // smaller
            return f"{seconds // size:,} {name}{f' {rest} {smaller_name}' if rest else ''}"
    return f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"
