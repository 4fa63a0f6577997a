"""Programs that run code: shell text is analysed in its turn, code of other languages is unknown."""

from __future__ import annotations

import re

from perdure.authority.commands.options import table, take_apart
from perdure.authority.commands.recorder import Handler, Invocation, Shell
from perdure.authority.patterns import UNKNOWN

_SHELL = table(
    "-abCDefhilmnpPrstuvx -c!risk -o:text -O:risk --login --norc --noprofile --posix --verbose --restricted"
    " --rcfile:risk --init-file:risk --debugger"
)
_SAFE_MODES = frozenset(("errexit", "nounset", "pipefail", "noglob", "noclobber", "xtrace"))
_FOREIGN = frozenset(("fish", "csh", "tcsh", "zsh", "pwsh", "powershell", "nu", "xonsh", "elvish"))
"""Shells with a grammar of their own, which bash's does not describe."""

_CODE_OPTIONS = {
    "python": r"-[bBdEhiIOqsSuvVx]*c",
    "perl": r"-[acfilnpsStTuUvwWX0-7]*[eEmMdD]",
    "ruby": r"-[aclnpsSvwW0-9]*[er]",
    "node": r"(?:-[ip]*[epr]\w*|--eval|--print|--require|--import|--loader|--experimental-loader)(?:=|\Z)",
    "php": r"-[rBREF]|--(?:run|process-\w+)",
    "lua": r"-[ivE]*[el]",
    "osascript": r"-[eli]",
    "Rscript": r"-e",
    "julia": r"-[eEL]|--eval|--print|--load",
    "elixir": r"-e|--eval|-r",
    "tclsh": r"\Z.",
    "ghci": r"-e",
    "sqlite3": r"-cmd|-init",
    "gdb": r"-ex|-x|--command|--eval-command",
}
_ALIASES = {
    **dict.fromkeys(("python2", "python3", "pypy", "pypy3", "jython", "ipython", "bpython"), "python"),
    **dict.fromkeys(("nodejs", "bun", "deno", "tsx", "ts-node"), "node"),
    **dict.fromkeys(("luajit", "lua5.4", "lua5.3", "lua5.1"), "lua"),
    **dict.fromkeys(("R", "r"), "Rscript"),
    **dict.fromkeys(("wish", "expect"), "tclsh"),
    **dict.fromkeys(("ghc", "runghc", "irb", "erl", "iex"), "ghci"),
    "jruby": "ruby",
    "lldb": "gdb",
}
_VERSIONED = re.compile(r"\A(python|pypy|perl|ruby|php|lua|node)\d[\d.]*\Z")
_VERSION = (("--version",), ("-V",), ("-v",), ("--help",), ("version",))
_TAKES_SUBCOMMAND = frozenset(("bun", "deno", "tsx"))


def unversioned(program: str) -> str:
    """The name of an interpreter without the version at its end, ``python`` for ``python3.11``; any other as it is."""
    return _VERSIONED.sub(r"\1", program)


def _runs_code(call: Invocation, shell: Shell) -> None:
    """Interpreters of languages that are not analysed. A script in a file is like any other program: it asks."""
    name = unversioned(call.program)
    language = _ALIASES.get(name, name)
    recorder = shell.recorder
    if call.words in _VERSION and (call.words != ("-v",) or language == "node"):
        recorder.executes_freely(call)
        return
    pattern = re.compile(_CODE_OPTIONS[language])
    inline = [word for word in call.words if pattern.match(word)]
    operands = [word for word in call.words if not word.startswith("-")]
    if inline or "eval" in call.words[:1] or (call.program in _TAKES_SUBCOMMAND and "repl" in call.words[:1]):
        recorder.unknown("code", f"'{call.program}' runs code that is written in the command")
    elif (not operands and "-m" not in call.words) or "-" in call.words:
        recorder.unknown("code", f"'{call.program}' runs the code that it reads")
    elif any(word.startswith(UNKNOWN) for word in call.words[:1]):
        recorder.unknown("code", f"'{call.program}' with options that only the run will know")
    recorder.executes(call, shell.scope, code=call.stdin.text)


def _shell(call: Invocation, shell: Shell) -> None:
    recorder = shell.recorder
    if call.words in _VERSION[:1]:
        recorder.executes_freely(call)
        return
    words = tuple(word.replace("+", "-", 1) if word.startswith("+") else word for word in call.words)
    line = take_apart(words, _SHELL, stop_at_operand=True)
    if line.strange or line.has("--rcfile", "--init-file", "-i", "-O") or set(line.values("-o")) - _SAFE_MODES:
        recorder.unknown("code", f"'{call.program}' with options that run more than its text")
        recorder.executes(call, shell.scope)
    text: str | None
    if line.has("-c"):
        text = line.operands[0] if line.operands else UNKNOWN
    elif line.operands and not line.has("-s"):
        recorder.unknown("code", f"'{call.program}' runs the commands in a file")
        recorder.executes(call, shell.scope)
        return
    else:
        text = call.stdin.text if call.stdin.kind == "text" else None
    if text is None:
        recorder.unknown("code", f"'{call.program}' runs the commands that it reads")
        recorder.executes(call, shell.scope)
    elif call.program in _FOREIGN:
        recorder.unknown("code", f"'{call.program}' has another grammar")
        recorder.executes(call, shell.scope, code=text)
        shell.script(text, call.stdin)
    else:
        shell.script(text, call.stdin if line.has("-c") else Invocation("", ()).stdin)


_SHELLS = (
    "sh",
    "bash",
    "dash",
    "ash",
    "ksh",
    "mksh",
    "rbash",
    "zsh",
    "fish",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "nu",
)

INTERPRETERS: dict[str, Handler] = {
    **dict.fromkeys((*_SHELLS, "xonsh", "elvish"), _shell),
    **dict.fromkeys((*_CODE_OPTIONS, *_ALIASES), _runs_code),
}
