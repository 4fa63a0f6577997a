"""Paths as the machine would follow them: home, ``..``, symbolic links and globs, against the workspace.

Nothing here looks at a disk. What the machine knows comes in as ``MachineFacts``; links are followed component by
component, because ``link/..`` is the parent of the link's target and not of the link.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from perdure.authority.capabilities import FILE_TOOL, Capability, ExecArgv, ReadPath, Unknown, WritePath
from perdure.authority.patterns import ANY, SPLIT, STAR, TREE, UNKNOWN, is_literal, is_unknown, meets
from perdure.authority.searches import come_upon, searched
from perdure.contracts.tools import Effect

MAX_ALTERNATIVES = 32
MAX_LINKS = 40
MAX_PATH = 4096
MAX_ROUNDS = 8
_PLAIN = re.compile(r"(?:[^/.]|\.(?![./]|\Z)|(?<=[^/])/(?!/|\Z))+")
"""A relative path without ``.``, ``..`` or doubled slashes: it stays as it is written."""


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """What the analysis must know of the machine that would run a command.

    ``home`` and ``workspace`` are absolute paths with their links resolved. ``cwd`` is where a command starts (the
    workspace unless given). ``links`` maps absolute paths of symbolic links to their texts, ``credentials`` are files
    that may hold credentials; `with_disk` finds those that matter. ``control_paths`` are this product's own files and
    folders: agent files, policy, settings, blobs, databases.
    """

    home: str
    workspace: str
    user: str = ""
    cwd: str | None = None
    links: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[str, ...] = ()
    control_paths: tuple[str, ...] = ()

    @property
    def start(self) -> str:
        """The folder in which a command starts."""
        return self.cwd or self.workspace


def resolved(word: str, folder: str, facts: MachineFacts) -> tuple[str, ...]:
    """Every place that the word may name, seen from ``folder``: absolute, without ``.``, ``..`` and known links.

    More than one when a glob may meet a link. A part that can be anything stays in as a mark, and nothing before it is
    promised then (it may hold ``..``).
    """
    if len(word) > MAX_PATH:
        return (UNKNOWN,)
    if is_unknown(word):
        return (word if word[:1] in ("/", UNKNOWN, SPLIT) else f"{folder}/{word}",)
    if is_unknown(folder) and not word.startswith("/"):
        return (f"{UNKNOWN}/{word}",)
    if not facts.links and _PLAIN.fullmatch(word):
        return (f"{folder.rstrip('/')}/{word}",)
    found: list[str] = []
    todo = [("", tuple(posixpath.join(folder, word).split("/")), 0)]
    while todo:
        place, parts, followed = todo.pop()
        if len(found) + len(todo) > MAX_ALTERNATIVES or followed > MAX_LINKS:
            return (UNKNOWN,)
        done = True
        for index, part in enumerate(parts):
            if part in ("", "."):
                continue
            if part == "..":
                place = place.rpartition("/")[0]
                continue
            targets = tuple(_targets(place, part, facts.links))
            rest = parts[index + 1 :]
            todo += [("", _follow(place, target, rest), followed + 1) for target in targets]
            if targets and is_literal(part):
                done = False
                break
            place = f"{place}/{part}"
        if done:
            found.append(place or "/")
    return tuple(dict.fromkeys(found))


def _targets(place: str, part: str, links: Mapping[str, str]) -> Iterable[str]:
    if not links:
        return
    if is_literal(part):
        if (target := links.get(f"{place}/{part}")) is not None:
            yield target
        return
    for link, target in links.items():
        parent, name = posixpath.split(link)
        below = link.startswith(f"{place}/")
        if (TREE in part and below) or ((parent == place or (parent, place) == ("/", "")) and meets(part, name)):
            yield target


def _follow(place: str, target: str, rest: tuple[str, ...]) -> tuple[str, ...]:
    return (*posixpath.join(place or "/", target).split("/"), *rest)


def is_below(path: str, folder: str) -> bool:
    """Whether the path is the folder or something in it, whatever its open parts turn out to be."""
    if is_unknown(path):
        return False
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def expanded_home(word: str, facts: MachineFacts) -> str:
    """The word with a leading ``~`` or ``~user`` replaced, as a shell does for an unquoted word."""
    if not word.startswith("~"):
        return word
    user, slash, rest = word[1:].partition("/")
    if user in ("", facts.user):
        return facts.home + slash + rest
    if user == "+":
        return facts.start + slash + rest
    if user == "root":
        return "/root" + slash + rest
    if user.replace("-", "").replace("_", "").replace(".", "").isalnum() and is_literal(user):
        return f"/home/{user}" + slash + rest
    return UNKNOWN + slash + rest


def analyse_paths(tool_effect: Effect | None, paths: Iterable[str], facts: MachineFacts) -> tuple[Capability, ...]:
    """What a file tool would do with its path arguments, given the effect that it declares (None: undeclared).

    A tool may or may not expand ``~``, ``$HOME`` and globs itself, so both readings are listed.
    """
    listed: dict[Capability, None] = {}
    for text in paths:
        if any(ord(character) < 32 or ord(character) == 127 for character in text):
            listed[Unknown("syntax", "a path with control characters")] = None
            continue
        for reading in _readings(text, facts):
            for path in resolved(reading, facts.start, facts):
                for place in (path, *come_upon(path, "content", facts.credentials)):
                    listed[ReadPath(place, FILE_TOOL)] = None
                if tool_effect != "read":
                    listed[WritePath(path, FILE_TOOL, "write", recursive=True)] = None
    return tuple(listed)


def _readings(text: str, facts: MachineFacts) -> tuple[str, ...]:
    plain = text.removeprefix("file://")
    plain = plain.replace("\\", "/") if "\\" in plain and "/" not in plain else plain
    home = expanded_home(plain, facts).replace("${HOME}", facts.home).replace("$HOME", facts.home)
    unknown = home.startswith("$") or "/$" in home
    globbed = home.replace("**", TREE).replace("*", STAR).replace("?", ANY)
    readings = [plain, home, globbed, text]
    if unknown:
        readings.append(UNKNOWN)
    return tuple(dict.fromkeys(readings))


class Disk(Protocol):
    """What a caller that may look at the disk tells of it. No method raises."""

    def target(self, path: str) -> str | None:
        """The text of the link at this absolute path; None when there is no link."""

    def links_in(self, folder: str) -> Mapping[str, str]:
        """Every link directly in the folder: absolute path to text. Empty when there is no such folder."""

    def credentials_below(self, folder: str, depth: int) -> Iterable[str]:
        """Files below the folder, at most that many names down, that may hold credentials by their name."""


def with_disk(
    analysis: Callable[[MachineFacts], Iterable[Capability]], facts: MachineFacts, disk: Disk
) -> MachineFacts:
    """The facts with what the disk knows of the paths that the analysis finds.

    That is every symbolic link on their way, links behind links included, and the files with credentials where a
    folder is searched. Links below a folder that a command searches recursively are not looked for.
    """
    links = dict(facts.links)
    for _ in range(MAX_ROUNDS):
        before = len(links)
        known = replace(facts, links=links)
        for path in paths_of(analysis(known)):
            _look_up(path, links, disk)
        if len(links) == before:
            break
        links = dict(links)
    folders = searched(analysis(known)).items()
    found = dict.fromkeys(file for folder, depth in folders for file in disk.credentials_below(folder, depth))
    return replace(known, credentials=tuple(found))


def _look_up(path: str, links: dict[str, str], disk: Disk) -> None:
    place = ""
    for part in path.split("/")[1:]:
        if not is_literal(part):
            links.update(disk.links_in(place or "/"))
            return
        place = f"{place}/{part}"
        if place not in links and (target := disk.target(place)) is not None:
            links[place] = target


def paths_of(capabilities: Iterable[Capability]) -> tuple[str, ...]:
    """The absolute paths that the capabilities name: where symbolic links matter."""
    named: dict[str, None] = {}
    for capability in capabilities:
        match capability:
            case ReadPath(path=path) | WritePath(path=path):
                named[path] = None
            case ExecArgv(mentions=mentions):
                named.update(dict.fromkeys(mentions))
            case _:
                pass
    return tuple(path for path in named if path.startswith("/"))
