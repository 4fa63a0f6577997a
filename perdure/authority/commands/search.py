"""``find`` and ``xargs``: they name files for other programs, and run those."""

from __future__ import annotations

import itertools
import re

from perdure.authority.commands.options import table
from perdure.authority.commands.recorder import UNKNOWN_STDIN, Handler, Invocation, Shell, Stdin
from perdure.authority.patterns import DOTSTAR, SPLIT, TREE, UNKNOWN, is_literal

_TESTS = {
    **dict.fromkeys(
        (
            "-amin",
            "-atime",
            "-cmin",
            "-ctime",
            "-mmin",
            "-mtime",
            "-fstype",
            "-gid",
            "-group",
            "-ilname",
            "-iname",
            "-inum",
            "-ipath",
            "-iregex",
            "-iwholename",
            "-links",
            "-lname",
            "-name",
            "-path",
            "-perm",
            "-regex",
            "-size",
            "-type",
            "-uid",
            "-used",
            "-user",
            "-wholename",
            "-xtype",
            "-maxdepth",
            "-mindepth",
            "-regextype",
            "-printf",
            "-context",
            "-newermt",
            "-newerct",
            "-newerat",
            "-D",
            "-B",
            "-Bmin",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "-daystart",
            "-depth",
            "-d",
            "-follow",
            "-ignore_readdir_race",
            "-noignore_readdir_race",
            "-mount",
            "-xdev",
            "-nowarn",
            "-warn",
            "-empty",
            "-executable",
            "-false",
            "-nogroup",
            "-nouser",
            "-readable",
            "-true",
            "-writable",
            "-print",
            "-print0",
            "-ls",
            "-prune",
            "-quit",
            "-not",
            "-and",
            "-a",
            "-or",
            "-o",
            "!",
            "(",
            ")",
            ",",
            "-help",
            "-version",
            "--version",
            "--help",
            "-E",
            "-X",
            "-x",
            "-s",
        ),
        0,
    ),
}
_COMPARES = frozenset(("-anewer", "-cnewer", "-newer", "-samefile", "-neweraa", "-newermm", "-newercc"))
_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_PRINTS = frozenset(("-fprint", "-fprint0", "-fls"))
_XARGS = table(
    "-0oprtx -a:read -d:text -E:text -I:text -i?text -L:text -l?text -n:text -P:text -s:text -J:text -R:text -S:text"
    " --null"
    " --no-run-if-empty --verbose --interactive --exit --arg-file:read --delimiter:text --eof?text --replace?text"
    " --max-lines?text --max-args:text --max-procs:text --max-chars:text --process-slot-var:risk --show-limits"
    " --open-tty"
)


def _find(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    words = list(call.words)
    while words and (words[0] in ("-H", "-L", "-P", "--") or re.match(r"-O\d\Z", words[0])):
        words.pop(0)
    roots: list[str] = []
    while words and not (words[0].startswith("-") or words[0] in ("(", ")", "!", ",")):
        roots.append(words.pop(0))
    roots = roots or ["."]
    for root in roots:
        recorder.read(root, call.program, scope, "metadata")
    names = _names(words)
    found = tuple(_found(roots, names))
    free = not any(SPLIT in root or root.startswith(UNKNOWN) for root in roots)
    while words:
        word = words.pop(0)
        if word in _TESTS:
            del words[: _TESTS[word]]
        elif word in _COMPARES:
            recorder.read(words.pop(0) if words else UNKNOWN, call.program, scope, "metadata")
        elif word in _RUNS:
            _exec(word, words, found, shell)
        elif word in _PRINTS or word == "-fprintf":
            recorder.write(words.pop(0) if words else UNKNOWN, call.program, scope)
            del words[: 1 if word == "-fprintf" else 0]
        elif word == "-delete":
            free = False
            for place in found if any(names) else roots:
                recorder.write(place, call.program, scope, "delete", recursive=True)
        else:
            free = False
    if free:
        recorder.executes_freely(call)
    else:
        recorder.executes(call, scope)
    if "-print0" in call.words and "-o" not in call.words and "," not in call.words:
        shell.emits(Stdin("paths", words=found))


def _names(words: list[str]) -> tuple[str, ...]:
    """The file names that can be found, when the tests say so: only simple expressions are understood, else any."""
    if any(word in ("-o", "-or", "!", "-not", ",", "(") for word in words):
        return ("",)
    for option, value in itertools.pairwise(words):
        if option in ("-name", "-iname") and is_literal(value) and "\\" not in value and "[" not in value:
            return (value.replace("*", DOTSTAR).replace("?", DOTSTAR) if value.strip("*") else "",)
    return ("",)


def _found(roots: list[str], names: tuple[str, ...]) -> list[str]:
    """What can be found: a root may be a file, and then it is the only thing."""
    return [
        place
        for root in roots
        for name in names
        for place in ([f"{root.rstrip('/')}/{TREE}/{name}"] if name else [root, f"{root.rstrip('/')}/{TREE}"])
    ]


def _exec(option: str, words: list[str], found: tuple[str, ...], shell: Shell) -> None:
    """``-exec argv ;`` or ``-exec argv {} +``: the argv with each place that may be found."""
    end = next(
        (index for index, word in enumerate(words) if word == ";" or (word == "+" and words[index - 1] == "{}")), None
    )
    if end is None:
        shell.recorder.unknown("command", f"'find {option}' without its end")
        end = len(words)
    argv = words[:end]
    del words[: end + 1]
    places = found if option in ("-exec", "-ok") else tuple(f"./{place.rsplit('/', 1)[-1]}" for place in found)
    if option in ("-execdir", "-okdir"):
        shell.recorder.unknown("value", f"'find {option}' changes the current folder")
    for place in places:
        shell.run([word.replace("{}", place) for word in argv], UNKNOWN_STDIN)


def _xargs(call: Invocation, shell: Shell) -> None:
    recorder = shell.recorder
    line = recorder.take_apart(call, _XARGS, shell.scope, stop_at_operand=True)
    if line.strange or line.has("--process-slot-var"):
        recorder.unknown("command", "'xargs' with options that are not understood")
    argv = list(line.operands) or ["echo"]
    exact = call.stdin.kind == "paths" and line.has("-0", "--null") and not line.has("-a", "--arg-file")
    added = call.stdin.words if exact else (SPLIT,)
    replaced = line.values("-I", "-J") or (("{}",) if line.has("-i", "--replace") else ())
    if replaced:
        mark = replaced[0]
        for place in added:
            value = place if exact else UNKNOWN
            shell.run([word.replace(mark, value) for word in argv] if mark else argv, UNKNOWN_STDIN)
    else:
        shell.run([*argv, *added], UNKNOWN_STDIN)


SEARCHERS: dict[str, Handler] = {"find": _find, "gfind": _find, "xargs": _xargs, "gxargs": _xargs}
