"""Programs that run another program: what stands behind their own options is judged as if it stood alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.authority.commands.assignments import check_name
from perdure.authority.commands.options import Table, table, take_apart
from perdure.authority.commands.recorder import UNKNOWN_STDIN, Handler, Invocation, Shell, Stdin
from perdure.authority.patterns import SPLIT, UNKNOWN

_TABLE = """
nohup | | 0
time | -pvaqlh -f:text -o:write --portability --verbose --format:text --output:write --append | 0
nice | -n:text --adjustment:text -# | 0
ionice | -c:text -n:text -t --class:text --classdata:text --ignore | 0
timeout | -fpv -k:text -s:text --kill-after:text --signal:text --preserve-status --foreground --verbose | 1
stdbuf | -i:text -o:text -e:text --input:text --output:text --error:text | 0
setsid | -cfw --ctty --fork --wait | 0
chrt | -abdfiomprRv -T:text -P:text -D:text | 1
taskset | -acp --all-tasks --cpu-list --pid | 1
caffeinate | -disu -t:text -w:text | 0
unbuffer | -p | 0
builtin | | 0
command | -p | 0
exec | -cl -a:text | 0
coproc | | 0
busybox toybox | | 0
strace ltrace | -cCdfFhiknqrtTvwyxzDZ -e:text -o:write -O:text -s:text -S:text -a:text -b:text -p:text -P:text -u:risk
 -E:risk -U:text -I:text --output:write | 0
unshare | -bcCfimnpruTUS --fork --user --map-root-user --net --pid --mount --uts --ipc | 0
"""
_PRIVILEGED = """
sudo | -AbBEeHhiKklNnPsSVv -C:text -c:text -D:text -g:text -p:text -R:text -r:text -T:text -t:text -U:text -u:text
 --user:text --group:text --prompt:text --chdir:text --chroot:text --host:text --role:text --type:text --other-user:text
 --command-timeout:text --close-from:text --preserve-env?text --login --shell --set-home --non-interactive --background
 --askpass --stdin --reset-timestamp --remove-timestamp --list --validate --preserve-groups --edit --bell | 0
doas | -Lns -a:text -C:text -u:text | 0
pkexec | --user:text --disable-internal-agent --keep-cwd | 0
runuser su | -flmpPwhV -c:code -g:text -G:text -s:exec -u:text --command:code --session-command:code --shell:exec
 --user:text --group:text --supp-group:text --login --preserve-environment --pty --fast | 1
gosu su-exec setpriv capsh chpst | --reuid:text --regid:text --clear-groups --init-groups --keep-groups | 1
chroot | --userspec:text --groups:text --skip-chdir | 1
nsenter | -aCFimnpruTUZ -t:text -S:text -G:text --target:text --all --mount --pid --net --uts --ipc --user | 0
"""
_ENV = table("-0iv -u:text -C:risk -S:risk --ignore-environment --null --unset:text --chdir:risk --split-string:risk"
             " --debug --default-signal?text --ignore-signal?text --block-signal?text")  # fmt: skip
_FLOCK = table("-eFnosuxv -c:code -w:text -E:text --exclusive --shared --nonblock --unlock --timeout:text --close"
               " --command:code --conflict-exit-code:text --verbose --no-fork --wait:text")  # fmt: skip
_WATCH = table("-bcdegtwxprCv -n:text --interval:text --no-title --color --differences?text --errexit --chgexit --exec"
               " --beep --precise")  # fmt: skip
_ENV_SPLIT = re.compile(r"(?:-[0iv]*S|--s[plit]*(?:-[string]*)?=?)(.*)\Z", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=")


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A wrapper's own options, and how many operands of its own come before the inner command."""

    options: Table
    operands: int


def _compiled(text: str) -> dict[str, Wrapper]:
    wrappers = {}
    for line in text.replace("\n ", " ").strip().splitlines():
        names, options, operands = (part.strip() for part in line.split("|"))
        wrappers.update(dict.fromkeys(names.split(), Wrapper(table(options), int(operands))))
    return wrappers


_PLAIN = _compiled(_TABLE)
_RAISING = _compiled(_PRIVILEGED)
_SHELL_RUNS = frozenset(("time", "coproc"))


def _inner(call: Invocation, shell: Shell, wrapper: Wrapper) -> tuple[str, ...]:
    """Record the wrapper's own options and give the command behind them; strange options may hide where it starts."""
    line = shell.recorder.take_apart(call, wrapper.options, shell.scope, stop_at_operand=True)
    if any(given.option.meaning == "risk" for given in line.given) or line.strange:
        shell.recorder.unknown("command", f"'{call.program}' with options that are not understood")
    return line.operands[wrapper.operands :]


def _wraps(call: Invocation, shell: Shell) -> None:
    inner = _inner(call, shell, _PLAIN[call.program])
    if call.program in _SHELL_RUNS:
        shell.run_here(inner, call.stdin)
    else:
        shell.run(inner, call.stdin)
    if not inner and call.program not in ("exec", "command", "builtin"):
        shell.recorder.executes(call, shell.scope)


def _command(call: Invocation, shell: Shell) -> None:
    if call.words[:1] in (("-v",), ("-V",), ("-pv",), ("-pV",)):
        shell.recorder.executes_freely(call)
    else:
        _wraps(call, shell)


def _raises(call: Invocation, shell: Shell) -> None:
    shell.recorder.executes(Invocation(call.program, call.words[:32]), shell.scope)
    inner = _inner(call, shell, _RAISING[call.program])
    while inner and _ASSIGNMENT.match(inner[0]):
        check_name(inner[0].partition("=")[0], shell.recorder.unknown)
        inner = inner[1:]
    shell.run(inner, call.stdin)


def _env(call: Invocation, shell: Shell) -> None:
    words = call.words
    for position, word in enumerate(words):
        if not word.startswith("-"):
            break
        if found := _ENV_SPLIT.match(word):
            rest = words[position + 1 :]
            text = found[1] or (rest[0] if rest else "")
            after = rest if found[1] else rest[1:]
            shell.recorder.unknown("code", "'env -S' splits a text into a command")
            shell.run(("env", *text.split(), *after), call.stdin)
            return
    line = take_apart(words, _ENV, stop_at_operand=True)
    if line.strange or line.has("-C", "--chdir", "-S", "--split-string"):
        shell.recorder.unknown("command", "'env' with options that are not understood")
    inner: Sequence[str] = line.operands
    while inner and ("=" in inner[0] or inner[0] == "-"):
        if inner[0] != "-":
            check_name(inner[0].partition("=")[0], shell.recorder.unknown)
        inner = inner[1:]
    if inner:
        shell.run(inner, call.stdin)
    else:
        shell.recorder.executes(call, shell.scope)


def _flock(call: Invocation, shell: Shell) -> None:
    line = take_apart(call.words, _FLOCK, stop_at_operand=True)
    rest = line.operands[1:]
    shell.recorder.executes(Invocation(call.program, call.words[: len(call.words) - len(rest)]), shell.scope)
    if rest[:1] in (("-c",), ("--command",)):
        shell.script(rest[1] if len(rest) > 1 else UNKNOWN, call.stdin)
    else:
        shell.run(rest, call.stdin)


def _watch(call: Invocation, shell: Shell) -> None:
    """``watch`` joins its words and gives them to a shell, time after time."""
    line = take_apart(call.words, _WATCH, stop_at_operand=True)
    if line.strange or line.has("-C", "-r"):
        shell.recorder.unknown("command", "'watch' with options that are not understood")
    shell.script(" ".join(line.operands), call.stdin)


def _builds(call: Invocation, shell: Shell) -> None:
    """Programs that run commands made of their input or options: nothing can be told."""
    shell.recorder.unknown("code", f"'{call.program}' builds commands and runs them")
    shell.recorder.executes(call, shell.scope)
    found = [index for index, word in enumerate(call.words) if not word.startswith("-") and word != SPLIT]
    if found:
        shell.run(call.words[found[0] :], UNKNOWN_STDIN)


def _script(call: Invocation, shell: Shell) -> None:
    shell.recorder.unknown("code", "'script' runs a shell")
    shell.recorder.executes(call, shell.scope)
    for option, text in zip(call.words, call.words[1:], strict=False):
        if option in ("-c", "--command"):
            shell.script(text, Stdin())


WRAPPERS: dict[str, Handler] = {
    **dict.fromkeys(_PLAIN, _wraps),
    **dict.fromkeys(_RAISING, _raises),
    **dict.fromkeys(("parallel", "entr", "xe", "rush", "at", "batch", "expect", "sem"), _builds),
    "command": _command,
    "env": _env,
    "flock": _flock,
    "script": _script,
    "watch": _watch,
}
