"""Commands of the shell itself: they run text, change the folder, set variables, or do nothing at all."""

from __future__ import annotations

import posixpath
import re

from perdure.authority.commands.assignments import check_name, check_test
from perdure.authority.commands.options import table, take_apart
from perdure.authority.commands.recorder import NO_STDIN, Handler, Invocation, Shell
from perdure.authority.commands.words import Scope
from perdure.authority.paths import MachineFacts, resolved
from perdure.authority.patterns import SPLIT, UNKNOWN, is_literal

MAX_FOLDERS = 8
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_READ = table("-ersE -a:text -d:text -i:text -n:text -N:text -p:text -t:text -u:text")
_TRAP = table("-lp")
_SAFE_SET = re.compile(r"[-+][euxvfCno]+\Z|pipefail\Z|errexit\Z|nounset\Z|xtrace\Z|noglob\Z|noclobber\Z")


def _free(call: Invocation, shell: Shell) -> None:
    shell.recorder.executes_freely(call)


def moved(folders: tuple[str, ...], word: str, facts: MachineFacts) -> tuple[str, ...]:
    """Where ``cd word`` may lead from these folders: links may be resolved before ``..`` or after."""
    found: dict[str, None] = {}
    for folder in folders:
        found.update(dict.fromkeys(resolved(word, folder, facts)))
        if is_literal(word) and is_literal(folder):
            found[posixpath.normpath(posixpath.join(folder, word))] = None
    return tuple(found) if len(found) <= MAX_FOLDERS and all(map(is_literal, found)) else (UNKNOWN,)


def _change_folder(call: Invocation, shell: Shell) -> None:
    """Afterwards the folder is the old one (it may fail) or the new one."""
    operands = [word for word in call.words if word not in ("-L", "-P", "--", "-e")]
    facts, before = shell.recorder.facts, shell.scope.folders
    if call.program in ("pushd", "popd") or len(operands) > 1 or operands == ["-"]:
        after: tuple[str, ...] = (UNKNOWN,)
    else:
        after = moved(before, operands[0] if operands else facts.home, facts)
    both = tuple(dict.fromkeys((*before, *after)))
    shell.scope.folders = (UNKNOWN,) if UNKNOWN in both or len(both) > MAX_FOLDERS else both
    shell.recorder.executes_freely(call)


def _eval(call: Invocation, shell: Shell) -> None:
    if any(not is_literal(word) for word in call.words):
        shell.recorder.unknown("code", "'eval' of text that only the run will know")
        shell.run_here([word for word in call.words if word != SPLIT], call.stdin)
        return
    shell.evaluate(" ".join(call.words), call.stdin, shell.scope)


def _source(call: Invocation, shell: Shell) -> None:
    shell.recorder.unknown("code", f"'{call.program}' runs the commands in a file")
    shell.recorder.executes(call, shell.scope)


def _trap(call: Invocation, shell: Shell) -> None:
    line = take_apart(call.words, _TRAP)
    shell.recorder.executes_freely(call)
    if not line.given and line.operands and line.operands[0] not in ("-", ""):
        shell.evaluate(line.operands[0], NO_STDIN, Scope((UNKNOWN,)))


def _read(call: Invocation, shell: Shell) -> None:
    line = take_apart(call.words, _READ)
    names = (*line.operands, *line.values("-a"))
    _assign_names(names, call, shell)
    shell.recorder.settle(call, line, shell.scope)


def _assign_names(names: tuple[str, ...], call: Invocation, shell: Shell) -> None:
    for name in names:
        if _NAME.match(name):
            check_name(name, shell.recorder.unknown)
            shell.scope.values[name] = None
        else:
            shell.recorder.unknown("value", f"'{call.program}' with a computed name")


def _printf(call: Invocation, shell: Shell) -> None:
    words = call.words
    if words and (words[0].startswith("-v") or not is_literal(words[0][:1]) or words[0] == SPLIT):
        _assign_names((words[0][2:] or words[1] if len(words) > 1 else UNKNOWN,), call, shell)
    shell.recorder.executes_freely(call)


def _test(call: Invocation, shell: Shell) -> None:
    for position, word in enumerate(call.words):
        following = call.words[position + 1] if position + 1 < len(call.words) else ""
        if word in ("-v", "-R") and not _NAME.match(following):
            shell.recorder.unknown("value", f"the test '{word}' on a value that is not in the text")
    check_test(call.words, shell.scope, shell.recorder.unknown)
    shell.recorder.executes_freely(call)


def _set(call: Invocation, shell: Shell) -> None:
    before, mark, _ = _cut(call.words)
    if (call.words and all(_SAFE_SET.match(word) for word in before)) and (before or mark):
        shell.recorder.executes_freely(call)
    else:
        shell.recorder.executes(call, shell.scope)


def _cut(words: tuple[str, ...]) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
    if "--" not in words:
        return words, False, ()
    index = words.index("--")
    return words[:index], True, words[index + 1 :]


def _unknown_meaning(call: Invocation, shell: Shell) -> None:
    """Builtins that change what names mean, load code, or evaluate text."""
    shell.recorder.unknown("command", f"'{call.program}' changes what commands mean")
    shell.recorder.executes(call, shell.scope)


def _alias(call: Invocation, shell: Shell) -> None:
    if any("=" in word or not is_literal(word) for word in call.words):
        _unknown_meaning(call, shell)
    else:
        shell.recorder.executes_freely(call)


BUILTINS: dict[str, Handler] = {
    **dict.fromkeys(("cd", "pushd", "popd", "chdir"), _change_folder),
    **dict.fromkeys(("exit", "return", "break", "continue", "shift", "wait", "type", "jobs", "times", "logout"), _free),
    **dict.fromkeys((".", "source"), _source),
    **dict.fromkeys(("test", "["), _test),
    **dict.fromkeys(
        (
            "enable",
            "hash",
            "bind",
            "complete",
            "compopt",
            "shopt",
            "let",
            "mapfile",
            "readarray",
            "getopts",
            "fc",
            "export",
            "declare",
            "typeset",
            "local",
            "readonly",
            "unset",
            "autoload",
            "zmodload",
            "setopt",
            "history",
        ),
        _unknown_meaning,
    ),
    "alias": _alias,
    "eval": _eval,
    "printf": _printf,
    "read": _read,
    "set": _set,
    "trap": _trap,
}
