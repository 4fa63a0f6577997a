"""Options as getopt reads them, against a table that says what each one means.

A table is text: ``-abc`` are flags, ``-k:text`` takes a value, ``--long:read`` too, ``-i?write`` only an attached one.
Meanings: ``text`` is data, ``read`` and ``write`` name a file, ``exec`` names a program to run, ``code`` is code,
``risk`` does more than reading. An option that the table does not have is a risk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from perdure.authority.patterns import ANY, DOTSTAR, SPLIT, STAR, TREE, UNKNOWN, is_literal

Meaning: TypeAlias = Literal["flag", "text", "read", "write", "exec", "code", "risk"]
_STARTS_OPEN = (UNKNOWN, STAR, ANY, DOTSTAR, TREE)


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a table. ``value``: none, needed (the next word if not attached), or only ever attached."""

    name: str
    meaning: Meaning
    value: Literal["none", "needed", "attached"]


@dataclass(frozen=True, slots=True)
class Table:
    """The options of one program. ``numbers``: ``-20`` is an option of its own."""

    options: Mapping[str, Option]
    numbers: bool = False

    def harmless(self, word: str) -> bool:
        """Whether a word that may turn out to be an option changes nothing: no option of the program does more than
        read, and none that reads could take a path out of the word."""
        meanings = {option.meaning for option in self.options.values()}
        return meanings <= {"flag", "text"} or (meanings <= {"flag", "text", "read"} and "/" not in word)


@dataclass(frozen=True, slots=True)
class Given:
    """An option as it was given; ``value`` is None when it has none."""

    option: Option
    value: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A command line taken apart. ``strange`` are options that the table does not have, or words that may be one."""

    given: tuple[Given, ...]
    operands: tuple[str, ...]
    strange: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Whether one of these options was given."""
        return any(given.option.name in names for given in self.given)

    def values(self, *names: str) -> tuple[str, ...]:
        """The values given to these options, in order."""
        return tuple(given.value for given in self.given if given.option.name in names and given.value is not None)


def table(text: str) -> Table:
    """Compile a table from its text form; ``-#`` allows numbers as options."""
    options: dict[str, Option] = {}
    for entry in text.split():
        mark = next((mark for mark in ":?!" if mark in entry[2:]), "")
        name, _, meaning = entry.partition(mark) if mark else (entry, "", "flag")
        if meaning not in get_args(Meaning):
            raise ValueError(f"option table: '{entry}' has the unknown meaning '{meaning}'")
        value: Literal["none", "needed", "attached"] = {":": "needed", "?": "attached"}.get(mark, "none")  # type: ignore[assignment]  # the mapping's values are these literals
        names = (name,) if name.startswith("--") or mark else tuple(f"-{letter}" for letter in name[1:])
        for one in names:
            options[one] = Option(one, cast("Meaning", meaning), value)
    return Table(options, numbers="-#" in options)


def take_apart(words: Sequence[str], known: Table, *, stop_at_operand: bool = False) -> Line:
    """Read the words after the program's name. With ``stop_at_operand``, all from the first operand on are operands."""
    given: list[Given] = []
    operands: list[str] = []
    strange: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if word == "--":
            operands += queue
            break
        if word.startswith("--") and len(word) > 2:
            _long(word, queue, known, given, strange)
        elif word.startswith("-") and len(word) > 1:
            if known.numbers and word[1:].isdigit():
                continue
            _cluster(word, queue, known, given, strange)
        else:
            if may_be_option(word) and not known.harmless(word):
                strange.append(word)
            operands.append(word)
            if stop_at_operand:
                operands += queue
                break
    return Line(tuple(given), tuple(operands), tuple(strange))


def may_be_option(word: str) -> bool:
    """Whether a word that is not known in full could turn out to start with a dash, or to bring a word that does."""
    return SPLIT in word or word.startswith(_STARTS_OPEN)


def _long(word: str, queue: list[str], known: Table, given: list[Given], strange: list[str]) -> None:
    name, equals, value = word.partition("=")
    matches = [known.options[name]] if name in known.options else [
        option for full, option in known.options.items() if full.startswith(name) and full.startswith("--")
    ]  # fmt: skip
    if len(matches) != 1 or not is_literal(name):
        strange.append(word)
        return
    option = matches[0]
    if equals:
        given.append(Given(option, value))
        if option.value == "none":
            strange.append(word)
    elif option.value == "needed":
        given.append(Given(option, queue.pop(0) if queue else None))
    else:
        given.append(Given(option, None))


def _cluster(word: str, queue: list[str], known: Table, given: list[Given], strange: list[str]) -> None:
    if word in known.options and len(word) > 2:
        option = known.options[word]
        given.append(Given(option, queue.pop(0) if option.value == "needed" and queue else None))
        return
    for position, letter in enumerate(word[1:], start=2):
        rest = word[position:]
        if (found := known.options.get(f"-{letter}")) is None:
            strange.append(word)
            return
        if found.value == "none":
            given.append(Given(found, None))
            continue
        if found.value == "needed" and not rest:
            given.append(Given(found, queue.pop(0) if queue else None))
        else:
            given.append(Given(found, rest or None))
        return
