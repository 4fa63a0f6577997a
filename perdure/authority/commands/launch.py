"""What a command word starts: a known program, a file, or something that only the run will know."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from perdure.authority.commands.recorder import Invocation, Shell, Stdin
from perdure.authority.commands.writers import delete_like
from perdure.authority.paths import resolved
from perdure.authority.patterns import SPLIT, UNKNOWN, shown

_SYSTEM_FOLDERS = frozenset(("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"))


def program(name: str, shell: Shell) -> str:
    """The bare name of a program, also when its path names a system folder; any other path in full."""
    if "/" not in name:
        return name
    path, *others = resolved(name, shell.scope.folders[0], shell.recorder.facts)
    folder, base = posixpath.split(path)
    return base if folder in _SYSTEM_FOLDERS and not others and name.startswith("/") else path


def unknown(argv: Sequence[str], stdin: Stdin, shell: Shell) -> None:
    """A command word that is not in the text. It may be ``rm``, or nothing: then the next word is the command."""
    name, words = argv[0], tuple(argv[1:])
    shell.recorder.unknown("command", f"the command word '{shown(name)}' is only known at run time")
    shell.recorder.executes(Invocation(name or UNKNOWN, words, stdin), shell.scope)
    pieces = tuple(piece for piece in name.split(SPLIT) if piece)
    delete_like(Invocation(UNKNOWN, (*pieces, *words)), shell)
    if SPLIT in name and (pieces or words):
        shell.run((*pieces, *words), stdin)
