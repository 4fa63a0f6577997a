"""Patterns of models in settings and tables: ``*`` stands for any text, every other character for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache


def fitting(model: str, patterns: Iterable[str]) -> Iterator[str]:
    """Those of ``patterns`` that ``model`` (``provider:model``) fits: its own name first, then in their order."""
    listed = tuple(patterns)
    if model in listed:
        yield model
    yield from (pattern for pattern in listed if "*" in pattern and pattern != model and fits(model, pattern))


def fits(text: str, pattern: str) -> bool:
    """Whether ``text`` fits ``pattern``, whatever the case of its letters."""
    return _compiled(pattern).fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL | re.IGNORECASE)
