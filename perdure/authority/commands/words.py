"""From a word's syntax to what the word may become: quotes removed, braces and variables expanded, globs as marks.

A word becomes several texts when braces say so, or when a variable or a default value may be one or the other. What
only the run will know becomes a mark, never an empty text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from tree_sitter import Node

from perdure.authority.capabilities import Cause
from perdure.authority.commands.grammar import Tree, expansions_in, literal_spans
from perdure.authority.commands.quoting import MAX_WORDS, TILDE, ansi, braced, settled, unescaped
from perdure.authority.commands.unparsable import UnparsableError
from perdure.authority.paths import MachineFacts, expanded_home
from perdure.authority.patterns import MARKS, SPLIT, STAR, UNKNOWN

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL", re.IGNORECASE)
_NUMERIC = frozenset(("?", "$", "#", "!", "-", "RANDOM", "LINENO", "SECONDS", "UID", "EUID", "PPID", "BASHPID"))
_ORDINARY = frozenset((":-", "-", ":=", "=", ":+", "+", ":?", "?", "%", "%%", "#", "##", "/", "//", "/#", "/%"))
_CASE = frozenset(("^", "^^", ",", ",,"))
_DEFAULTS = frozenset((":-", "-", ":=", "=", ":+", "+"))
_VALUES = frozenset(
    ("word", "string", "raw_string", "number", "concatenation", "ansi_c_string", "command_substitution")
)

Note: TypeAlias = Callable[[Cause, str], None]
"""Records why something is unknown, and the phrase for people."""


@dataclass(slots=True)
class Scope:
    """What the statements so far have settled: where relative paths start, and what variables hold.

    A variable that is missing in ``values`` comes from the environment; None means that only the run will know it.
    """

    folders: tuple[str, ...]
    values: dict[str, tuple[str, ...] | None] = field(default_factory=dict)

    def copy(self) -> Scope:
        """The scope that a subshell starts with."""
        return Scope(self.folders, dict(self.values))


@dataclass(frozen=True, slots=True)
class Words:
    """Reads the words of one tree. ``run`` is called with each substitution, ``note`` with what stays unknown."""

    tree: Tree
    facts: MachineFacts
    scope: Scope
    run: Callable[[Node], None]
    note: Note

    def of(self, node: Node) -> tuple[str, ...]:
        """Every word that this syntax may become."""
        found: list[str] = []
        for text in self._pieces(node):
            found += (self._finished(word) for word in braced(text))
        return tuple(dict.fromkeys(found))[: MAX_WORDS + 1] if len(found) <= MAX_WORDS else (SPLIT,)

    def one(self, node: Node) -> str:
        """The single word that this syntax becomes, or a mark when it may be several."""
        words = self.of(node)
        return words[0] if len(words) == 1 else SPLIT

    def _finished(self, word: str) -> str:
        word = settled(word)
        if word.startswith(TILDE):
            word = expanded_home("~" + word[1:], self.facts)
        name, equals, value = word.partition("=")
        if equals and value.startswith(TILDE):
            word = name + "=" + expanded_home("~" + value[1:], self.facts)
        return word.replace(TILDE, "~")

    def _pieces(self, node: Node) -> tuple[str, ...]:
        text = self.tree.text
        match node.type:
            case "word" | "extglob_pattern" | "regex" | "test_operator" | "variable_name":
                return (unescaped(text(node)),)
            case "number":
                return tuple(self._parts(node.children)) if node.children else (text(node),)
            case "raw_string":
                return (text(node)[1:-1],)
            case "ansi_c_string":
                return (ansi(text(node)[2:-1]),)
            case "string" | "translated_string":
                return self._quoted(node)
            case "concatenation" | "command_name":
                return self._parts(node.children)
            case "simple_expansion" | "expansion":
                return self._expansion(node, SPLIT)
            case "command_substitution":
                self.run(node)
                return (SPLIT,)
            case "process_substitution":
                self.run(node)
                return ("/dev/fd/63",)
            case "arithmetic_expansion":
                self._arithmetic(node)
                return (STAR,)
            case "brace_expression":
                return (STAR,)
            case "array":
                for child in node.named_children:
                    self.of(child)
                return (SPLIT,)
            case "$":
                return ("",)
            case _:
                raise UnparsableError(f"the syntax '{node.type}' inside a word")

    def _parts(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        return _joined([self._pieces(child) for child in nodes])

    def _quoted(self, node: Node) -> tuple[str, ...]:
        if node.type == "translated_string":
            return self._parts(child for child in node.children if child.type == "string")
        parts: list[tuple[str, ...]] = []
        for (start, end), child in zip(literal_spans(node), [*expansions_in(node), None], strict=True):
            parts.append((re.sub(r'\\([$`"\\])|\\\n', r"\1", self.tree.source[start:end].decode()),))
            match child:
                case None:
                    continue
                case Node(type="simple_expansion" | "expansion"):
                    parts.append(self._expansion(child, UNKNOWN))
                case Node(type="command_substitution"):
                    self.run(child)
                    parts.append((UNKNOWN,))
                case Node(type="arithmetic_expansion"):
                    parts.append(self._pieces(child))
                case _:
                    raise UnparsableError(f"the syntax '{child.type}' inside quotes")
        return _joined(parts)

    def _expansion(self, node: Node, unknown: str) -> tuple[str, ...]:
        name, operator, rest = "", "", []
        for child in node.children:
            if child.type in ("$", "${", "}"):
                continue
            if not name and child.type in ("variable_name", "special_variable_name"):
                name = self.tree.text(child)
            elif not name and child.type == "subscript":
                self._subscript(child)
                name = SPLIT
            elif not name and child.type == "#":
                operator = "length"
            elif child.is_named or child.type not in _ORDINARY | _CASE | {":"} or operator:
                rest.append(child)
            else:
                operator = child.type
        values = [piece for child in rest if child.type in _VALUES for piece in self._pieces(child)]
        nested = [child for child in rest if child.type not in _VALUES]
        for child in nested:
            self.nested(child)
        if not name or any(child.type in ("!", "@") for child in rest) or (operator == ":" and not _are_numbers(rest)):
            self.note("value", "an indirect or computed expansion")
            return (unknown,)
        if operator == "length":
            return (STAR,)
        if operator in (":=", "="):
            self.scope.values[name] = None
        if operator in _DEFAULTS:
            own = () if operator in (":+", "+") else self._value(name, unknown)
            return tuple(dict.fromkeys((*own, *values, *(("",) if operator in (":+", "+") else ()))))
        own = self._value(name, unknown)
        return (unknown,) if operator else own

    def _value(self, name: str, unknown: str) -> tuple[str, ...]:
        if name in self.scope.values:
            values = self.scope.values[name]
            if values is None or (unknown == SPLIT and not all(_stays_whole(value) for value in values)):
                return (unknown,)
            return values
        if name == "HOME":
            return (self.facts.home,)
        if name == "PWD":
            return self.scope.folders
        if name in ("USER", "LOGNAME") and self.facts.user:
            return (self.facts.user,)
        if name in _NUMERIC:
            return (STAR,)
        if _SECRET.search(name):
            self.note("value", f"the variable {name} may hold a secret")
        return (unknown,)

    def nested(self, node: Node) -> None:
        """Look into the less usual parts of an expansion for substitutions."""
        if node.type in ("command_substitution", "process_substitution"):
            self.run(node)
        elif node.type in ("simple_expansion", "expansion"):
            self._expansion(node, UNKNOWN)
        elif node.type == "arithmetic_expansion":
            self._arithmetic(node)
        else:
            for child in node.children:
                self.nested(child)

    def _subscript(self, node: Node) -> None:
        if not all(child.type in ("variable_name", "[", "]", "number") or self.tree.text(child) in ("@", "*")
                   for child in node.children):  # fmt: skip
            self.note("value", "a computed array index")
        self.nested(node)

    def _arithmetic(self, node: Node) -> None:
        """Arithmetic on a variable evaluates the variable's text, substitutions in it included."""
        if not all(self._is_number(child) for child in _inner(node)):
            self.note("value", "arithmetic on a value that is not in the text")
        for child in node.children:
            self.nested(child)

    def _is_number(self, node: Node) -> bool:
        if node.type == "variable_name":
            values = self.scope.values.get(self.tree.text(node))
            return values is not None and all(value.isdigit() for value in values)
        return node.type in ("number", "binary_expression", "parenthesized_expression", "simple_expansion")


def _inner(node: Node) -> Iterable[Node]:
    for child in node.named_children:
        yield child
        yield from _inner(child)


def _are_numbers(nodes: Iterable[Node]) -> bool:
    return all(child.type in ("number", ":") for child in nodes)


def _joined(parts: list[tuple[str, ...]]) -> tuple[str, ...]:
    count = 1
    for part in parts:
        count *= len(part)
    if count > MAX_WORDS:
        return (SPLIT,)
    return tuple("".join(texts) for texts in product(*parts))


def _stays_whole(value: str) -> bool:
    return value != "" and not any(
        character in MARKS or character.isspace() or character in "*?[" for character in value
    )
