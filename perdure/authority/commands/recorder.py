"""Where the analysis of one command line writes down what it found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from perdure.authority.capabilities import (
    Capability,
    Cause,
    Change,
    ExecArgv,
    Extent,
    NetworkHost,
    ReadPath,
    Unknown,
    WritePath,
)
from perdure.authority.commands.grammar import MAX_NODES
from perdure.authority.commands.options import Line, Table, take_apart
from perdure.authority.commands.unparsable import UnparsableError
from perdure.authority.commands.words import Scope
from perdure.authority.paths import MachineFacts, expanded_home, resolved
from perdure.authority.patterns import UNKNOWN, is_unknown
from perdure.authority.searches import come_upon

MAX_MENTIONS = 600
MAX_RUNS = 500
_PATHLIKE = re.compile(r"[^\s'\"`(){}\[\],;:=<>|&$]+")


@dataclass(frozen=True, slots=True)
class Stdin:
    """What a program gets on its standard input, as far as the text tells.

    ``nothing``: the caller's own input. ``text``: a here-document, known. ``paths``: names that end with a NUL byte,
    all of which match ``words``. ``unknown``: anything.
    """

    kind: Literal["nothing", "text", "paths", "unknown"] = "nothing"
    text: str = ""
    words: tuple[str, ...] = ()


NO_STDIN = Stdin()
UNKNOWN_STDIN = Stdin("unknown")


@dataclass(frozen=True, slots=True)
class Invocation:
    """One program about to run: its bare name, its arguments, and its standard input."""

    program: str
    words: tuple[str, ...]
    stdin: Stdin = NO_STDIN

    @property
    def argv(self) -> tuple[str, ...]:
        """Name and arguments."""
        return (self.program, *self.words)


@dataclass(slots=True)
class Recorder:
    """Collects capabilities, each once, in the order in which they were found."""

    facts: MachineFacts
    found: dict[Capability, None] = field(default_factory=dict)
    runs: int = 0
    nodes: int = 0

    def count_nodes(self, count: int) -> None:
        """Count what is parsed, nested texts included. Raises ``UnparsableError`` for too much."""
        self.nodes += count
        if self.nodes > MAX_NODES:
            raise UnparsableError(f"more than {MAX_NODES} syntax nodes, texts in texts included")

    def count_run(self) -> None:
        """Count one program that runs. Raises ``UnparsableError`` for too many: a text may call itself in many ways."""
        self.runs += 1
        if self.runs > MAX_RUNS:
            raise UnparsableError(f"more than {MAX_RUNS} commands")

    def unknown(self, cause: Cause, detail: str) -> None:
        """Record that something cannot be told from the text."""
        self.found[Unknown(cause, detail)] = None

    def read(
        self,
        word: str,
        by: str,
        scope: Scope,
        extent: Extent = "content",
        *,
        only: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
    ) -> None:
        """Record that a file is read, and what a search comes upon. ``-`` is the standard input and no file.

        For ``only`` and ``without`` see `perdure.authority.searches.come_upon`.
        """
        if word not in ("-", ""):
            for path in self.places(word, scope):
                self.found[ReadPath(path, by, extent)] = None
                for file in come_upon(path, extent, self.facts.credentials, only, without):
                    self.found[ReadPath(file, by)] = None

    def write(self, word: str, by: str, scope: Scope, change: Change = "write", *, recursive: bool = False) -> None:
        """Record that a file is changed."""
        for path in self.places(word, scope):
            self.found[WritePath(path, by, change, recursive)] = None

    def network(self, host: str, by: str) -> None:
        """Record that another machine is contacted."""
        self.found[NetworkHost(host, by)] = None

    def executes(self, call: Invocation, scope: Scope | None = None, *, code: str = "") -> None:
        """Record a program that is not known to be read-only, with every path that its arguments or its code name."""
        mentions = self.mentions((*call.words, code), scope) if scope else ()
        self.found[ExecArgv(call.argv, call.program, free=False, mentions=mentions)] = None

    def executes_freely(self, call: Invocation) -> None:
        """Record a program that does no more than the capabilities recorded with it."""
        self.found[ExecArgv(call.argv, call.program, free=True)] = None

    def places(self, word: str, scope: Scope) -> tuple[str, ...]:
        """Where a word points, seen from every folder that the command may be in."""
        found: dict[str, None] = {}
        for folder in scope.folders:
            found.update(dict.fromkeys(resolved(expanded_home(word, self.facts), folder, self.facts)))
        return tuple(found)

    def mentions(self, words: Sequence[str], scope: Scope) -> tuple[str, ...]:
        """Every path that the words could name, also behind ``=``, ``:``, ``@`` and inside code."""
        named: dict[str, None] = {}
        for word in words:
            candidates = [word] if not word.startswith("-") and len(word) < 256 else []
            candidates += _PATHLIKE.findall(word)
            candidates += [piece.lstrip("@") for piece in candidates if piece.startswith("@")]
            if word.startswith("-") and not word.startswith("--"):
                candidates.append(word[2:])
            named.update(dict.fromkeys(candidates))
        if len(named) > MAX_MENTIONS:
            self.unknown("limit", f"more than {MAX_MENTIONS} words that may be paths")
        listed = [text for text in list(named)[:MAX_MENTIONS] if text and not is_unknown(text[:1])]
        return tuple(dict.fromkeys(place for text in listed for place in self.places(text, scope)))

    def take_apart(self, call: Invocation, known: Table, scope: Scope, *, stop_at_operand: bool = False) -> Line:
        """Read a program's options against its table, and record what the options with a file or code do."""
        line = take_apart(call.words, known, stop_at_operand=stop_at_operand)
        for given in line.given:
            value = given.value if given.value is not None else UNKNOWN
            match given.option.meaning:
                case "read":
                    self.read(value, call.program, scope)
                case "write":
                    self.write(value, call.program, scope)
                case "exec" | "code":
                    self.unknown("code", f"'{call.program} {given.option.name}' runs a command")
                case "flag" | "text" | "risk":
                    pass
        return line

    def settle(self, call: Invocation, line: Line, scope: Scope) -> None:
        """Record the program itself: free unless an option says otherwise."""
        risky = any(given.option.meaning in ("risk", "exec", "code") for given in line.given)
        if risky or line.strange:
            self.executes(call, scope)
        else:
            self.executes_freely(call)


class Shell(Protocol):
    """The shell around a program's handler: what it knows, and how the handler hands on what the program would run."""

    @property
    def recorder(self) -> Recorder:
        """Where the handler writes down what it found."""

    @property
    def scope(self) -> Scope:
        """Folders and variables as they are when the program runs; a builtin may change them."""

    def run(self, argv: Sequence[str], stdin: Stdin) -> None:
        """Analyse a program that another one starts: shell functions and keywords are unknown to it."""

    def run_here(self, argv: Sequence[str], stdin: Stdin) -> None:
        """Analyse a command that the shell itself runs, functions included."""

    def script(self, text: str, stdin: Stdin) -> None:
        """Analyse text that a new shell runs."""

    def evaluate(self, text: str, stdin: Stdin, scope: Scope) -> None:
        """Analyse text that this shell runs."""

    def emits(self, output: Stdin) -> None:
        """Say what the program writes to its standard output, when that is known."""


Handler: TypeAlias = Callable[[Invocation, Shell], None]
"""What one program, or one family of programs, does."""
