"""``git``: which subcommands only read, and which of their options run code or write files.

Configuration is code (aliases, pagers, filters, helpers): setting it, or pointing git at another one, is unknown code.
"""

from __future__ import annotations

import re
from itertools import pairwise

from perdure.authority.commands.builtins import moved
from perdure.authority.commands.options import table
from perdure.authority.commands.recorder import UNKNOWN_STDIN, Invocation, Recorder, Shell
from perdure.authority.commands.words import Scope
from perdure.authority.patterns import SPLIT, UNKNOWN, is_literal

_GLOBAL = table(
    "-C:text -c:code -p!risk --paginate!risk -P --no-pager --git-dir:risk --work-tree:risk --namespace:text"
    " --exec-path?code"
    " --config-env:code --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --no-optional-locks --version"
    " --html-path --man-path --info-path --attr-source:text --icase-pathspecs --no-lazy-fetch --super-prefix:text"
)
_READS = frozenset(
    (
        "status",
        "log",
        "diff",
        "show",
        "rev-parse",
        "ls-files",
        "ls-tree",
        "blame",
        "annotate",
        "describe",
        "shortlog",
        "cat-file",
        "rev-list",
        "name-rev",
        "merge-base",
        "grep",
        "for-each-ref",
        "show-ref",
        "count-objects",
        "cherry",
        "check-ignore",
        "check-attr",
        "diff-tree",
        "diff-index",
        "diff-files",
        "whatchanged",
        "show-branch",
        "range-diff",
        "version",
        "verify-commit",
        "verify-tag",
    )
)
_UNPACKS = frozenset(("apply", "am", "clean", "checkout-index", "read-tree"))
"""Subcommands that change whatever their input names, or everything that git does not know."""

_TAKES_PATHS = frozenset(("diff", "grep", "blame", "log", "show", "annotate", "ls-files", "cat-file", "add", "commit"))
_LISTS: dict[str, re.Pattern[str]] = {
    "branch": re.compile(r"-[avrqi]+\Z|-vv\Z|--(?:all|list|remotes|verbose|show-current|merged|no-merged|contains"
                         r"|no-contains"
                         r"|sort|format|points-at|column|no-column|color|no-color|ignore-case|omit-empty)(?:=.*)?\Z"),
    "tag": re.compile(r"-l\Z|-n\d*\Z|--(?:list|sort|format|contains|no-contains|merged|no-merged|points-at)(?:=.*)?\Z"),
    "remote": re.compile(r"get-url\Z"),
    "stash": re.compile(r"list\Z|show\Z"),
    "worktree": re.compile(r"list\Z"),
    "submodule": re.compile(r"status\Z"),
    "config": re.compile(r"--get(?:-all|-regexp)?\Z|get\Z"),
    "reflog": re.compile(r"show\Z|exists\Z"),
    "notes": re.compile(r"list\Z|show\Z"),
    "bisect": re.compile(r"log\Z"),
    "symbolic-ref": re.compile(r"--short\Z|-q\Z"),
}  # fmt: skip
_CHANGES = frozenset(
    (
        "add",
        "commit",
        "push",
        "pull",
        "fetch",
        "clone",
        "init",
        "checkout",
        "switch",
        "restore",
        "reset",
        "merge",
        "rebase",
        "cherry-pick",
        "revert",
        "rm",
        "mv",
        "clean",
        "apply",
        "am",
        "format-patch",
        "archive",
        "bundle",
        "gc",
        "prune",
        "ls-remote",
        "update-index",
        "update-ref",
        "hash-object",
        "write-tree",
        "commit-tree",
        "read-tree",
        "repack",
        "sparse-checkout",
        "checkout-index",
        "maintenance",
        "replace",
        "request-pull",
        "rerere",
        "interpret-trailers",
        "pack-refs",
        "unpack-objects",
        "mktag",
    )
)
_RISKY = re.compile(
    r"--(?:ext-diff|textconv|filters|open-files|exec|upload|receive|config|templ|extcmd|tool|remote|contents"
    r"|ignore-revs"
    r"|exclude-from|pathspec-from|orderfile|no-index|untr|no-exc|show-sig)|-\w*O|--outpu"
)
_CODE = re.compile(r"--(?:ext-d|textc|filt|open-f|exec|upl|rece|conf|templ|extc|tool|gui|run|editor)")
_RUNS_COMMAND = {
    "rebase": re.compile(r"-\w*[xi]|--ex|--int"),
    "clone": re.compile(r"-c|-u|--con|--te"),
    "grep": re.compile(r"-\w*O"),
    "difftool": re.compile(r""),
    "mergetool": re.compile(r""),
    "filter-branch": re.compile(r""),
    "send-email": re.compile(r""),
}
_WRITES = re.compile(r"--output(?:-directory)?(?:=(.*))?\Z|--out[a-z-]*=(.*)\Z|-o(.*)\Z", re.DOTALL)


def git(call: Invocation, shell: Shell) -> None:
    """What one git command line does."""
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(call, _GLOBAL, scope, stop_at_operand=True)
    free = not line.strange and not any(given.option.meaning in ("risk", "code") for given in line.given)
    if line.has("--git-dir", "--work-tree"):
        recorder.unknown("code", "git with the configuration of another place")
    folders = scope.folders
    for folder in line.values("-C"):
        scope.folders = moved(scope.folders, folder, recorder.facts)
    if line.operands:
        _subcommand(call, line.operands[0], line.operands[1:], shell, free=free)
    else:
        _settle(call, recorder, scope, free=free and bool(line.given))
    recorder.read(".", "git", scope, "metadata")
    scope.folders = folders


def _settle(call: Invocation, recorder: Recorder, scope: Scope, *, free: bool) -> None:
    if free:
        recorder.executes_freely(call)
    else:
        recorder.executes(call, scope)


def _subcommand(call: Invocation, name: str, words: tuple[str, ...], shell: Shell, *, free: bool) -> None:
    recorder, scope = shell.recorder, shell.scope
    runs = name in _RUNS_COMMAND and any(map(_RUNS_COMMAND[name].match, words or ("",)))
    if runs or any(_CODE.match(word) or "ext::" in word for word in words):
        recorder.unknown("code", f"'git {name}' may run a command that its options name")
        free = False
    if name in _TAKES_PATHS:
        for word in words:
            if not word.startswith("-"):
                recorder.read(word, "git", scope)
                recorder.read(word.partition(":")[2], "git", scope)
    if name not in ("ls-files", "grep"):
        _writes(words, recorder, scope)
    if name in _READS:
        free = free and not any(_RISKY.match(word) or _unclear(word) for word in words)
    elif name in _LISTS:
        free = free and _only_lists(name, words)
        if name == "config" and not free:
            recorder.unknown("code", "'git config' can set what git runs")
        _hands_on(name, words, shell)
    else:
        free = False
        if name in _UNPACKS:
            recorder.write(".", "git", scope, recursive=True)
        if name not in _CHANGES:
            recorder.unknown("code", f"'git {name}' may be an alias")
    _settle(call, recorder, scope, free=free)


def _writes(words: tuple[str, ...], recorder: Recorder, scope: Scope) -> None:
    for word, following in pairwise((*words, UNKNOWN)):
        if found := _WRITES.match(word):
            target = next((group for group in found.groups() if group), following)
            recorder.write(target, "git", scope, recursive=True)


def _unclear(word: str) -> bool:
    return SPLIT in word or (not is_literal(word[:1]) and "/" not in word) or word.startswith(UNKNOWN)


def _only_lists(name: str, words: tuple[str, ...]) -> bool:
    pattern = _LISTS[name]
    if not words or (name == "remote" and words in (("-v",), ("--verbose",))):
        return name in ("branch", "tag", "remote", "reflog", "worktree", "submodule", "notes")
    if any(_unclear(word) for word in words):
        return False
    match name:
        case "branch" | "tag":
            listing = any(
                re.match(r"--(?:list|contains|merged|no-merged|points-at|no-contains)|-l", word) for word in words
            )
            rest = [word for word in words if not pattern.match(word)]
            return not any(word.startswith("-") for word in rest) and (listing or not rest)
        case "config":
            return bool(pattern.match(words[0])) and not any(word.startswith("-") for word in words[1:])
        case "symbolic-ref":
            return sum(not word.startswith("-") for word in words) == 1 and all(
                pattern.match(word) for word in words if word.startswith("-")
            )
        case "stash" | "reflog" | "notes" | "bisect" | "worktree":
            return bool(pattern.match(words[0])) and not any(
                _RISKY.match(word) or _WRITES.match(word) for word in words[1:]
            )
        case _:
            return bool(pattern.match(words[0])) and not any(word.startswith("-") for word in words[1:])


def _hands_on(name: str, words: tuple[str, ...], shell: Shell) -> None:
    """``git submodule foreach`` and ``git bisect run`` hand words to a shell."""
    mark = {"submodule": "foreach", "bisect": "run"}.get(name)
    if mark in words:
        text = " ".join(word for word in words[words.index(mark) + 1 :] if not word.startswith("--"))
        shell.recorder.unknown("code", f"'git {name} {mark}' runs a command")
        shell.script(text or UNKNOWN, UNKNOWN_STDIN)
