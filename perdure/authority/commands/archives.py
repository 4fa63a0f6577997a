"""``tar``, ``zip`` and ``unzip``: listing is reading, unpacking writes whatever the archive says."""

from __future__ import annotations

import posixpath
import re

from perdure.authority.commands.options import table
from perdure.authority.commands.recorder import Handler, Invocation, Shell

_TAR = table(
    "-AcdrtuxajJzZvwkKmpPOsShilMnGoRUWB -f:text -C:text -I:code -F:code -T:read -X:read -b:text -g:write -N:text"
    " -V:text"
    " -H:text -L:text --list --extract --get --create --append --update --diff --compare --delete --concatenate"
    " --catenate"
    " --file:text --directory:text --gzip --bzip2 --xz --zstd --auto-compress --verbose --to-stdout --exclude:text"
    " --exclude-from:read --files-from:read --strip-components:text --to-command:code --use-compress-program:code"
    " --checkpoint?text --checkpoint-action:code --rmt-command:code --rsh-command:code --info-script:code"
    " --new-volume-script:code --absolute-names --wildcards --no-wildcards --remove-files --overwrite"
    " --index-file:write"
    " --transform:text --owner:text --group:text --mode:text --full-time --numeric-owner --utc --occurrence?text --null"
    " --no-recursion --one-top-level?text --keep-old-files --sort:text --mtime:text"
)
_ZIP = table(
    "-0123456789ADFLSTXZcdefghjklmoqruvwyz@ -b:text -i:text -n:text -P:text -t:text -x:text -TT:code"
    " --unzip-command:code"
    " --recurse-paths --quiet"
)
_UNZIP = table("-acfjlnopqtuvzCDKLMVWXZ12 -d:text -P:text -x:text")
_REMOTE = re.compile(r"[^/]+:")


def _tar(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    words = call.words
    if words and not words[0].startswith("-") and re.fullmatch(r"[A-Za-z]+", words[0]):
        words = _old_style(words)
    line = recorder.take_apart(Invocation("tar", words), _TAR, scope)
    lists = line.has("-t", "--list", "-d", "--diff", "--compare")
    extracts = line.has("-x", "--extract", "--get")
    changes = line.has(
        "-c", "-r", "-u", "-A", "--create", "--append", "--update", "--delete", "--concatenate", "--catenate"
    )
    for archive in line.values("-f", "--file"):
        if _REMOTE.match(archive):
            recorder.network(archive.partition(":")[0].rpartition("@")[2], "tar")
            recorder.unknown("code", "'tar' runs a remote shell for an archive with a colon in its name")
        elif changes and archive != "-":
            recorder.write(archive, "tar", scope)
        else:
            recorder.read(archive, "tar", scope)
    if changes:
        folders = (".", *line.values("-C", "--directory"))
        for place in (posixpath.join(folder, operand) for folder in folders for operand in line.operands):
            recorder.read(place, "tar", scope, "tree")
            if line.has("--remove-files"):
                recorder.write(place, "tar", scope, "delete", recursive=True)
    if extracts and not line.has("-O", "--to-stdout"):
        for folder in line.values("-C", "--directory") or (".",):
            recorder.write(folder, "tar", scope, recursive=True)
    if lists and not (extracts or changes):
        recorder.settle(call, line, scope)
    else:
        recorder.executes(call, scope)


def _old_style(words: tuple[str, ...]) -> tuple[str, ...]:
    """``tar tf a.tar``: letters without a dash; the values stand behind, in the order of their letters."""
    rest = list(words[1:])
    found: list[str] = []
    for letter in words[0]:
        found.append(f"-{letter}")
        option = _TAR.options.get(f"-{letter}")
        if option is not None and option.value == "needed" and rest:
            found.append(rest.pop(0))
    return (*found, *rest)


def _zip(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(call, _ZIP, scope)
    for operand in line.operands[:1]:
        recorder.write(operand, "zip", scope)
    for operand in line.operands[1:]:
        recorder.read(operand, "zip", scope, "tree")
    if any(word.startswith("-TT") or "T" in word[:2] for word in call.words):
        recorder.unknown("code", "'zip -T' may run a command that its options name")
    recorder.executes(call, scope)


def _unzip(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(call, _UNZIP, scope)
    for operand in line.operands[:1]:
        recorder.read(operand, "unzip", scope)
    if line.has("-l", "-t", "-v", "-z", "-Z", "-p", "-c"):
        recorder.settle(call, line, scope)
    else:
        for folder in line.values("-d") or (".",):
            recorder.write(folder, "unzip", scope, recursive=True)
        recorder.executes(call, scope)


ARCHIVES: dict[str, Handler] = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "zip": _zip,
    "unzip": _unzip,
}
