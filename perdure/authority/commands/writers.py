"""Programs that change files: which of their arguments are read, written, or deleted, and how far down."""

from __future__ import annotations

import posixpath
import re

from perdure.authority.capabilities import Change
from perdure.authority.commands.options import Line, table
from perdure.authority.commands.recorder import Handler, Invocation, Shell
from perdure.authority.patterns import UNKNOWN, is_literal

_RM = table(
    "-rRfivdI --recursive --force --interactive?text --one-file-system --no-preserve-root --preserve-root?text --dir"
    " --verbose"
)
_RMDIR = table("-pv --parents --ignore-fail-on-non-empty --verbose")
_SHRED = table("-fuvxz -n:text -s:text --force --iterations:text --size:text --remove?text --zero --random-source:read")
_COPY = table(
    "-abdfiHlLnPpRrsTuvxZcX -S:text -t:write --target-directory:write --recursive --archive --force --no-clobber"
    " --no-target-directory --parents --preserve?text --update?text --verbose --backup?text --suffix:text"
    " --symbolic-link"
    " --link --dereference --no-dereference --sparse:text --reflink?text --remove-destination --interactive"
)
_MOVE = table(
    "-bfinTuvZ -S:text -t:write --target-directory:write --force --no-clobber --no-target-directory --verbose"
    " --update?text"
    " --backup?text --suffix:text --interactive --strip-trailing-slashes"
)
_LINK = table(
    "-bdfFiLnPrsTvh -S:text -t:write --target-directory:write --symbolic --force --relative --no-dereference --verbose"
    " --no-target-directory --backup?text --suffix:text --interactive --logical --physical"
)
_INSTALL = table(
    "-bcCdDpsTvZ -g:text -m:text -o:text -S:text -t:write --target-directory:write --mode:text --owner:text"
    " --group:text"
    " --directory --backup?text --compare --preserve-timestamps --strip --strip-program:exec --verbose"
)
_MODE = table("-RcfvHLPh --recursive --changes --silent --quiet --verbose --reference:read --preserve-root"
              " --no-preserve-root --dereference --no-dereference --from:text")  # fmt: skip
_TEE = table("-aip --append --ignore-interrupts --output-error?text")
_TOUCH = table("-acfhm -d:text -r:read -t:text --no-create --date:text --reference:read --time:text --no-dereference")
_MKDIR = table("-pvZ -m:text --parents --verbose --mode:text")
_TRUNCATE = table("-co -r:read -s:text --size:text --reference:read --no-create --io-blocks")
_SPLIT = table("-adexu -a:text -b:text -C:text -l:text -n:text -t:text --lines:text --bytes:text --number:text"
               " --numeric-suffixes?text --additional-suffix:text --suffix-length:text --filter:exec"
               " --verbose")  # fmt: skip
_PACK = table("-123456789acdfhkLlnNqrtvVz -S:text -T:text --stdout --to-stdout --keep --list --test --decompress"
              " --force"
              " --recursive --best --fast --verbose --quiet --threads:text")  # fmt: skip
_RM_LIKE = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*\Z|--recursive\Z")


def _removes(call: Invocation, shell: Shell) -> None:
    line = shell.recorder.take_apart(call, {"rmdir": _RMDIR, "shred": _SHRED}.get(call.program, _RM), shell.scope)
    recursive = line.has("-r", "-R", "--recursive")
    for operand in line.operands:
        shell.recorder.write(operand, call.program, shell.scope, "delete", recursive=recursive)
    shell.recorder.executes(call, shell.scope)


def delete_like(call: Invocation, shell: Shell) -> None:
    """A command word that only the run will know, with arguments as ``rm -r`` has them: judged as if it were that."""
    if not any(_RM_LIKE.match(word) for word in call.words):
        return
    for word in call.words:
        if not word.startswith("-"):
            shell.recorder.write(word, call.program, shell.scope, "delete", recursive=True)


def _copies(call: Invocation, shell: Shell) -> None:
    known = {"cp": _COPY, "mv": _MOVE, "ln": _LINK, "install": _INSTALL}[call.program]
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(call, known, scope)
    into = line.values("-t", "--target-directory")
    moves, recursive = call.program == "mv", line.has("-r", "-R", "-a", "--recursive", "--archive")
    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    if call.program == "install" and line.has("-d", "--directory"):
        targets = line.operands
    elif into or (call.program == "ln" and len(line.operands) == 1):
        sources, targets = line.operands, into or (".",)
    else:
        sources, targets = line.operands[:-1], line.operands[-1:]
    for source in sources:
        if call.program != "ln":
            recorder.read(source, call.program, scope, "tree" if recursive or moves else "content")
        else:
            recorder.read(source, call.program, scope)
        if moves:
            recorder.write(source, call.program, scope, "delete", recursive=True)
        for target in targets:
            recorder.write(posixpath.join(target, posixpath.basename(source.rstrip("/"))), call.program, scope)
    for target in targets:
        recorder.write(target, call.program, scope, recursive=recursive)
    recorder.executes(call, scope)


def _permissions(call: Invocation, shell: Shell) -> None:
    words = call.words
    if call.program == "chmod":
        words = tuple(f"./{word}" if re.fullmatch(r"-[rwxXstugoa,=+-]+", word) else word for word in words)
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(Invocation(call.program, words), _MODE, scope)
    targets = line.operands if line.values("--reference") else line.operands[1:]
    for target in targets:
        recorder.write(target, call.program, scope, "permissions", recursive=line.has("-R", "--recursive"))
    recorder.executes(call, scope)


def _all_written(call: Invocation, shell: Shell) -> None:
    known = {"tee": _TEE, "touch": _TOUCH, "mkdir": _MKDIR, "truncate": _TRUNCATE, "sponge": _TEE}[call.program]
    line = shell.recorder.take_apart(call, known, shell.scope)
    _write_all(call, shell, line)
    shell.recorder.executes(call, shell.scope)


def _write_all(call: Invocation, shell: Shell, line: Line, change: Change = "write") -> None:
    for operand in line.operands:
        if operand != "/dev/null":
            shell.recorder.write(operand, call.program, shell.scope, change)


def _dd(call: Invocation, shell: Shell) -> None:
    for word in call.words:
        name, _, value = word.partition("=")
        if name == "of":
            shell.recorder.write(value, call.program, shell.scope)
        elif name == "if":
            shell.recorder.read(value, call.program, shell.scope)
        elif not is_literal(name):
            shell.recorder.write(UNKNOWN, call.program, shell.scope)
    shell.recorder.executes(call, shell.scope)


def _split(call: Invocation, shell: Shell) -> None:
    line = shell.recorder.take_apart(call, _SPLIT, shell.scope)
    for operand in line.operands[:1]:
        shell.recorder.read(operand, call.program, shell.scope)
    shell.recorder.write(f"{line.operands[1] if len(line.operands) > 1 else 'x'}aa", call.program, shell.scope)
    shell.recorder.executes(call, shell.scope)


def _patch(call: Invocation, shell: Shell) -> None:
    """``patch`` changes whatever its input names."""
    shell.recorder.write(".", call.program, shell.scope, recursive=True)
    shell.recorder.executes(call, shell.scope)


def _packs(call: Invocation, shell: Shell) -> None:
    """``gzip`` and its kind replace the files that they are given, unless they only print or list."""
    line = shell.recorder.take_apart(call, _PACK, shell.scope)
    only_reads = line.has("-c", "-l", "-t", "--stdout", "--to-stdout", "--list", "--test") and not line.strange
    for operand in line.operands:
        shell.recorder.read(operand, call.program, shell.scope)
        if not only_reads:
            shell.recorder.write(operand, call.program, shell.scope)
    if only_reads or (not line.operands and not line.strange):
        shell.recorder.executes_freely(call)
    else:
        shell.recorder.executes(call, shell.scope)


WRITERS: dict[str, Handler] = {
    **dict.fromkeys(("rm", "rmdir", "unlink", "shred", "trash", "srm"), _removes),
    **dict.fromkeys(("cp", "mv", "ln", "install"), _copies),
    **dict.fromkeys(("chmod", "chown", "chgrp"), _permissions),
    **dict.fromkeys(("tee", "touch", "mkdir", "truncate", "sponge"), _all_written),
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"), _packs),
    "dd": _dd,
    "patch": _patch,
    "split": _split,
}
