"""What a command or a file tool would do, as data: rules match on these, never on text.

Paths are absolute and normalised; what an expansion leaves open stands in them as a mark of ``patterns``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from perdure.authority.patterns import shown

FILE_TOOL = ""
"""The ``by`` of a capability that a file tool has itself, without any program."""

REDIRECT = ">"
"""The ``by`` of a capability that a shell redirection has."""

Extent = Literal["metadata", "content", "tree"]
"""What is read: that it is there and how large, what it holds, or what everything below it holds."""

Change = Literal["write", "delete", "permissions"]
"""What is done to a file."""

Cause = Literal["syntax", "command", "code", "environment", "value", "recursion", "limit"]
"""Why something is unknown: text that does not parse, a command word or a value that only the run will know, code of
another language, an environment variable that changes what programs do, a function that calls itself, too much text."""


@dataclass(frozen=True, slots=True)
class ReadPath:
    """Something is read. ``by`` is the program's name, ``>`` for a redirection, empty for a file tool."""

    path: str
    by: str
    extent: Extent = "content"
    kind: Literal["read"] = "read"


@dataclass(frozen=True, slots=True)
class WritePath:
    """Something is changed. ``recursive``: with everything below."""

    path: str
    by: str
    change: Change = "write"
    recursive: bool = False
    kind: Literal["write"] = "write"


@dataclass(frozen=True, slots=True)
class ExecArgv:
    """A program runs. ``free``: by the table of read-only commands it does no more than its read capabilities say.

    ``program`` is the bare name when the word is bare or names a system folder, else the whole word (``./ls``).
    ``mentions`` are the paths that the arguments name, for a program whose arguments the tables do not know.
    """

    argv: tuple[str, ...]
    program: str
    free: bool
    mentions: tuple[str, ...] = ()
    kind: Literal["exec"] = "exec"


@dataclass(frozen=True, slots=True)
class NetworkHost:
    """Another machine is contacted. ``host`` may be partly unknown."""

    host: str
    by: str
    kind: Literal["network"] = "network"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something runs, or may, that cannot be told from the text. ``detail`` is one phrase for people."""

    cause: Cause
    detail: str
    kind: Literal["unknown"] = "unknown"


Capability: TypeAlias = ReadPath | WritePath | ExecArgv | NetworkHost | Unknown


def as_json(capability: Capability) -> dict[str, str | bool | list[str]]:
    """The capability as a JSON object with ``kind``; open parts are shown as ``*``, ``?``, ``**``, ``{unknown}``."""
    match capability:
        case ReadPath(path=path, by=by, extent=extent):
            return {"kind": "read", "path": shown(path), "by": by, "extent": extent}
        case WritePath(path=path, by=by, change=change, recursive=recursive):
            return {"kind": "write", "path": shown(path), "by": by, "change": change, "recursive": recursive}
        case ExecArgv(argv=argv, program=program, free=free):
            return {"kind": "exec", "argv": [shown(word) for word in argv], "program": shown(program), "free": free}
        case NetworkHost(host=host, by=by):
            return {"kind": "network", "host": shown(host), "by": by}
        case Unknown(cause=cause, detail=detail):
            return {"kind": "unknown", "cause": cause, "detail": shown(detail)}
        case _:
            assert_never(capability)
