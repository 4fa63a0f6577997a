"""Words and paths of which only a part is known: text in which private marks stand for what an expansion may bring.

A mark is a control character. Text that comes in never holds one (it is refused before), so a mark cannot be forged.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

UNKNOWN = "\x00"
"""Any text, slashes and dots included, that stays inside its word (a quoted expansion)."""

SPLIT = "\x01"
"""Any text that may also end its word and start others (an unquoted expansion)."""

STAR = "\x02"
"""A shell ``*``: any text without a slash; at the start of a name it does not match a leading dot."""

ANY = "\x03"
"""A shell ``?`` or ``[...]``: one character, no slash, no leading dot."""

DOTSTAR = "\x04"
"""Any text without a slash, a leading dot included: the ``*`` of ``find -name`` and of the rules here."""

TREE = "\x05"
"""Any path below, never upwards: what a recursive search visits."""

MARKS = frozenset((UNKNOWN, SPLIT, STAR, ANY, DOTSTAR, TREE))
_STARS = frozenset((UNKNOWN, SPLIT, STAR, DOTSTAR, TREE))
_SHOWN = str.maketrans({UNKNOWN: "{unknown}", SPLIT: "{unknown}", STAR: "*", ANY: "?", DOTSTAR: "*", TREE: "**"})
_IGNORABLE = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")


def shown(text: str) -> str:
    """The text for people: marks become ``*``, ``?``, ``**`` and ``{unknown}``."""
    return text.translate(_SHOWN)


def is_literal(text: str) -> bool:
    """Whether every character is known."""
    return MARKS.isdisjoint(text)


def is_unknown(text: str) -> bool:
    """Whether a part of the text can be anything at all."""
    return UNKNOWN in text or SPLIT in text


def folded(text: str) -> str:
    """The text as a file system without case and without invisible characters would compare it."""
    if text.isascii():
        return text.lower()
    kept = "".join(character for character in text if character not in _IGNORABLE)
    return unicodedata.normalize("NFKC", kept).casefold()


def rule_pattern(text: str) -> str:
    """A name pattern as the rule tables write it: ``*`` is any text, a leading dot included."""
    return text.replace("*", DOTSTAR)


@lru_cache(maxsize=8192)
def meets(name: str, rule: str) -> bool:
    """Whether some name is matched by both: a (partly known) name and a rule's pattern, each one path component."""
    if is_literal(rule) and is_literal(name):
        return name == rule
    return bool(_ends(name, rule))


@lru_cache(maxsize=8192)
def points_at(name: str, rule: str) -> bool:
    """Whether a name that meets the rule also says so: ``id_*`` points at ``id_rsa``, but ``*`` and ``*.json`` do not
    point at ``credentials.json``."""
    if is_literal(name):
        return True
    stem, _, suffix = name.rpartition(".")
    rule_stem, _, rule_suffix = rule.rpartition(".")
    if stem and rule_stem and suffix == rule_suffix and is_literal(suffix):
        return rule_stem == DOTSTAR or True in _ends(stem, rule_stem)
    return True in _ends(name, rule)


def _ends(name: str, rule: str) -> set[bool]:
    """The ways in which both can be used up: True for one in which a known letter, or the leading dot, met itself."""
    reach = _skip_stars({(0, False)}, rule)
    for position, character in enumerate(name):
        grown: set[tuple[int, bool]] = set()
        for before, met in reach:
            if character in _STARS:
                hidden = position == 0 and character == STAR and before == 0 and rule[:1] == "."
                grown |= {(after, met) for after in range(before, before + 1 if hidden else len(rule) + 1)}
            elif before < len(rule):
                grown |= _after(character, rule[before], before, met=met, at_start=position == 0)
        reach = _skip_stars(grown, rule)
    return {met for after, met in reach if after == len(rule)}


def _after(character: str, expected: str, before: int, *, met: bool, at_start: bool) -> set[tuple[int, bool]]:
    if expected in _STARS:
        return {(before, met), (before + 1, met)}
    if character == ANY:
        return set() if at_start and expected == "." else {(before + 1, met)}
    return {(before + 1, met or at_start or character.isalnum())} if character == expected else set()


def _skip_stars(reach: set[tuple[int, bool]], rule: str) -> set[tuple[int, bool]]:
    grown = set(reach)
    for start, met in reach:
        while start < len(rule) and rule[start] in _STARS:
            start += 1
            grown.add((start, met))
    return grown
