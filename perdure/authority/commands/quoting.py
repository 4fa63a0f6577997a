"""Quotes and braces: which characters of a word mean something to the shell, kept apart from those that do not.

A character that is special where it stands becomes a mark of its own until the word is settled.
"""

from __future__ import annotations

import re

from perdure.authority.patterns import ANY, SPLIT, STAR, UNKNOWN

MAX_WORDS = 64
"""A word that becomes more than these counts as unknown."""

_BRACE, _UNBRACE, _COMMA, _BRACKET, _UNBRACKET, TILDE = "\x0e\x0f\x10\x11\x12\x13"
_ACTIVE = str.maketrans("{},[]~*?", f"{_BRACE}{_UNBRACE}{_COMMA}{_BRACKET}{_UNBRACKET}{TILDE}{STAR}{ANY}")
_INERT = str.maketrans(f"{_BRACE}{_UNBRACE}{_COMMA}{_BRACKET}{_UNBRACKET}", "{},[]")
_BRACKETED = re.compile(f"{_BRACKET}[^/{_UNBRACKET}][^/{_UNBRACKET}]*{_UNBRACKET}")
_INNERMOST = re.compile(f"{_BRACE}([^{_BRACE}{_UNBRACE}]*){_UNBRACE}")
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_ANSI_SIMPLE = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"', "?": "?"}


def unescaped(text: str) -> str:
    """An unquoted word without its backslashes, its special characters marked."""
    if "\\" not in text:
        return text.translate(_ACTIVE)
    pieces = re.split(r"\\(\n|[\s\S])", text)
    return "".join(
        ("" if piece == "\n" else piece) if index % 2 else piece.translate(_ACTIVE)
        for index, piece in enumerate(pieces)
    )


def ansi(text: str) -> str:
    """The text of ``$'...'``; characters that cannot be shown are unknown."""

    def character(found: re.Match[str]) -> str:
        hexadecimal = found[1] or found[2] or found[3]
        if hexadecimal or found[4]:
            code = int(hexadecimal, 16) if hexadecimal else int(found[4], 8)
            return chr(code) if 32 <= code < 127 or code in (9, 10) else UNKNOWN
        return _ANSI_SIMPLE.get(found[6], UNKNOWN) if found[6] else UNKNOWN

    return _ANSI.sub(character, text)


def braced(text: str) -> tuple[str, ...]:
    """Expand ``{a,b}``. Ranges are marks already; braces without a comma stay themselves."""
    words = [text]
    for _ in range(MAX_WORDS):
        expanded: list[str] = []
        changed = False
        for word in words:
            if (found := _INNERMOST.search(word)) is None:
                expanded.append(word)
                continue
            changed = True
            before, inside, after = word[: found.start()], found[1], word[found.end() :]
            if _COMMA in inside:
                expanded += (before + choice + after for choice in inside.split(_COMMA))
            elif re.fullmatch(r"-?\w+\.\.-?\w+(?:\.\.-?\w+)?", inside):
                expanded.append(before + STAR + after)
            else:
                expanded.append(f"{before}{{{inside}}}{after}")
        words = expanded
        if not changed:
            return tuple(words)
        if len(words) > MAX_WORDS:
            break
    return (SPLIT,)


def settled(word: str) -> str:
    """The word with bracket expressions as marks, and what means nothing special as itself. A ``~`` stays marked."""
    return _BRACKETED.sub(ANY, word).translate(_INERT)
