"""Matching: whether a call is one that a rule of a policy, or a grant, speaks of.

The trap is to compare the text alone. ``git status; rm x`` begins with ``git status``, and ``drafts/../secret`` begins
with ``drafts/``. So an argument that its tool declares as a command or as a path is taken apart into readings: each
command that the line would run, each place that the path leads to. A rule that loosens must fit every one of them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import assert_never

from pydantic import JsonValue

from perdure.authority.capabilities import Capability, ExecArgv, NetworkHost, ReadPath, WritePath
from perdure.authority.commands import CommandPolicy, analyse_command, judge_capabilities
from perdure.authority.paths import MachineFacts, analyse_paths, is_below
from perdure.authority.patterns import UNKNOWN, shown
from perdure.contracts.agent import ArgumentRule
from perdure.contracts.arguments import argument_text
from perdure.contracts.tools import ToolSpec

MAX_READINGS = 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing that a call would do: for each argument the texts that say the same of it; none where nothing can.

    ``free``: a command of it only reads inside the workspace, so a rule may pass it over, and no rule must name it.
    """

    texts: Mapping[str, tuple[str, ...]]
    free: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A call as rules see it. An argument that is not given has the default that its schema declares, if any.

    ``written`` is the call as the model wrote it, ``readings`` what it comes to; raises ValueError for more readings
    than anybody means.
    """

    tool: ToolSpec
    arguments: Mapping[str, JsonValue]
    facts: MachineFacts
    written: Reading = field(init=False)
    readings: tuple[Reading, ...] = field(init=False)

    def __post_init__(self) -> None:
        effective = {**_defaults(self.tool), **self.arguments}
        texts = {name: (argument_text(value),) for name, value in effective.items()}
        object.__setattr__(self, "written", Reading(texts))
        taken_apart = {
            name: readings
            for name in self.special
            if name in effective and (readings := _readings(self.tool, name, effective[name], self.facts))
        }
        if prod(len(alternatives) for alternatives in taken_apart.values()) > MAX_READINGS:
            raise ValueError("the call would do more than can be looked at")
        combined = (
            Reading(
                {**texts, **{name: one.texts[name] for name, one in zip(taken_apart, chosen, strict=True)}},
                any(one.free for one in chosen),
            )
            for chosen in product(*taken_apart.values())
        )
        object.__setattr__(self, "readings", tuple(combined))

    @property
    def special(self) -> tuple[str, ...]:
        """The arguments that are commands or paths: what they say is not what they do."""
        command = (self.tool.command_argument,) if self.tool.command_argument else ()
        return (*command, *(name for name in self.tool.path_arguments if name not in command))

    def fits(self, reading: Reading, when: Iterable[ArgumentRule]) -> bool:
        """Whether the reading fits all of ``when``. Who names a value exactly as it was written means all of it."""
        return all(
            any(_fits(test, text) for text in reading.texts.get(test.argument, ()))
            or (test.match == "exact" and test.value in self.written.texts.get(test.argument, ()))
            for test in when
        )


def tool_fits(pattern: str, name: str) -> bool:
    """Whether the tool's name is that of a rule, in which ``*`` stands for any text."""
    return _glob(pattern, name, any_one="")


def _defaults(tool: ToolSpec) -> dict[str, JsonValue]:
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        name: schema["default"]
        for name, schema in properties.items()
        if isinstance(schema, dict) and schema.get("default") is not None
    }


def _readings(tool: ToolSpec, name: str, value: JsonValue, facts: MachineFacts) -> list[Reading]:
    items = value if isinstance(value, list) else [value]
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) != len(items):
        return []
    if name == tool.command_argument:
        return [reading for text in texts for reading in _commands(name, text, facts)]
    return [reading for text in texts for reading in _places(name, text, tool, facts)]


def _commands(name: str, text: str, facts: MachineFacts) -> Iterator[Reading]:
    """A reading for every command of the line, and one without text for what is more than its commands: redirections,
    what cannot be told, what a free command reads outside of the workspace."""
    found = analyse_command(text, facts).capabilities
    commands = [capability for capability in found if isinstance(capability, ExecArgv)]
    for command in commands:
        names = _names(command.argv[0], facts, certain=len(commands) == 1)
        yield Reading({name: tuple(_line((one, *command.argv[1:])) for one in names)}, command.free)
    named = {command.program for command in commands} - {command.program for command in commands if command.free}
    rest = [capability for capability in found if not _belongs(capability, named)]
    if not commands or judge_capabilities(rest, facts, CommandPolicy()).decision != "allow":
        yield Reading({name: ()})


def _names(program: str, facts: MachineFacts, *, certain: bool) -> tuple[str, ...]:
    """How the program may be named. The same path is another file once ``cd`` or another program changes the folder, so
    a path is certain only where nothing else runs."""
    _, slash, base = program.rpartition("/")
    if not slash:
        return (program,)
    if not certain:
        return (f"{UNKNOWN}/{base}",)
    below = program.removeprefix(facts.start.rstrip("/") + "/")
    if below == program:
        return (program,)
    # A bare name is one that is looked for elsewhere: ./git is not git.
    return (program, f"./{below}", below) if "/" in below else (program, f"./{below}")


def _line(argv: tuple[str, ...]) -> str:
    # A word with a blank in it is quoted: the program "git push/../x" must not begin like the command git push.
    words = (shown(word) for word in argv)
    return " ".join(shlex.quote(word) if _needs_quotes(word) else word for word in words)


def _needs_quotes(word: str) -> bool:
    return not word or any(character.isspace() or character in "'\"\\;&|<>()" for character in word)


def _belongs(capability: Capability, programs: set[str]) -> bool:
    """Whether the capability is one that a rule speaks of when it names the command of one of these programs."""
    match capability:
        case ExecArgv():
            return True
        case ReadPath(by=by) | WritePath(by=by) | NetworkHost(by=by):
            return by in programs
        case _:
            return False


def _places(name: str, text: str, tool: ToolSpec, facts: MachineFacts) -> Iterator[Reading]:
    for place in dict.fromkeys(
        capability.path if isinstance(capability, ReadPath | WritePath) else ""
        for capability in analyse_paths(tool.effect, (text,), facts)
    ):
        yield Reading({name: tuple(_spellings(place, facts)) if place else ()})


def _spellings(place: str, facts: MachineFacts) -> Iterator[str]:
    yield place
    if is_below(place, facts.workspace):
        yield place[len(facts.workspace.rstrip("/")) + 1 :] or "."
    if is_below(place, facts.home):
        yield "~" + place[len(facts.home.rstrip("/")) :]


def _fits(test: ArgumentRule, text: str) -> bool:
    match test.match:
        case "exact":
            return text == test.value
        case "prefix":
            return text.startswith(test.value)
        case "wildcard":
            return _glob(test.value, text, any_one="?")
        case "regex":
            return re.fullmatch(test.value, text, re.DOTALL) is not None
        case _:
            assert_never(test.match)


def _glob(pattern: str, text: str, *, any_one: str) -> bool:
    """Whether the whole text fits; in time that grows with the product of the lengths, whatever the pattern."""
    at = here = 0
    star, resume = -1, 0
    while here < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, here
            at += 1
        elif at < len(pattern) and (pattern[at] == text[here] or pattern[at] == any_one):
            at += 1
            here += 1
        elif star >= 0:
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return set(pattern[at:]) <= {"*"}
