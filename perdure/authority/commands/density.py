"""A bound on the parser's work, before it starts."""

from __future__ import annotations

import re

from perdure.authority.commands.unparsable import UnparsableError

MAX_OPERATORS = 500
MAX_SURPLUS = 60
MAX_HEREDOCS = 10
_DATA = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\[\s\S])*\"|\\[\s\S]|(?:(?<=[\s;])|\A)#[^\n]*")
_OPERATOR = re.compile(r"[;&|<>(){}`$\[\]=!\"']")


def check_density(text: str) -> None:
    """Refuse what would take long: the parser is slow where it must recover, most at brackets that close nothing."""
    operators = balance = surplus = 0
    code = _DATA.sub(_without_data, text)
    for found in _OPERATOR.finditer(code):
        operators += 1
        balance += {"(": 1, ")": -1}.get(found.group(), 0)
        if balance < 0:
            balance, surplus = 0, surplus + 1
    if operators > MAX_OPERATORS or surplus > MAX_SURPLUS or code.count("<<") > MAX_HEREDOCS:
        raise UnparsableError("too many operators and brackets to be read in time")


def _without_data(found: re.Match[str]) -> str:
    """Leave out quoted text, but keep what a double-quoted text or a here-document may run."""
    text = found.group()
    return text if text[:1] != "'" and ("$(" in text or "`" in text) else " "
