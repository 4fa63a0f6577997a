"""``sed``, ``awk``, ``jq``: read-only programs with a small language of their own, of which the harmless part is known.

A script outside of that part runs programs, writes or reads further files, or prints the environment: it asks.
"""

from __future__ import annotations

import re

from perdure.authority.commands.options import table
from perdure.authority.commands.recorder import Handler, Invocation, Shell
from perdure.authority.patterns import UNKNOWN, is_literal

_SED = table(
    "-nErsuz -e:text -l:text -i?text -I?text -f:code --quiet --silent --expression:text --regexp-extended --separate"
    " --unbuffered --null-data --line-length:text --in-place?text --file:code --posix --debug --sandbox"
    " --follow-symlinks"
)
_AWK = table("-F:text -v:text -f:code -e:risk -E:risk -i:risk -l:risk -b -c -P -r -s -S --field-separator:text"
             " --assign:text"
             " --file:code --posix --traditional --sandbox --csv --re-interval")  # fmt: skip
_JQ_VALUES = {
    "--arg": 2,
    "--argjson": 2,
    "--slurpfile": 2,
    "--rawfile": 2,
    "--indent": 1,
    "-f": 1,
    "--from-file": 1,
    "-L": 1,
}
_JQ_FLAG = re.compile(
    r"-[cCMSaejnrRsj]+\Z|--(?:compact-output|raw-output\d?|raw-input|null-input|slurp|sort-keys|color-output|seq|stream"
    r"|monochrome-output|ascii-output|exit-status|tab|join-output|args|jsonargs|unbuffered|version)\Z"
)
_JQ_RISK = re.compile(
    r"(?<![\w.$\"])(?:import|include|env|modulemeta|load|load_str|strenv|envsubst|system|get_search_list)\b|\$ENV"
)
_YQ = table("-ePrNjMCnsc -o:text -p:text -I:text -i --output-format:text --input-format:text --prettyPrint --no-doc"
            " --unwrapScalar?text --raw-output --exit-status --colors --no-colors --indent:text --null-input"
            " --inplace")  # fmt: skip
_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*)"
_SUBSTITUTE = (
    r"s(?P<d>[/|#,@:!%+_^~])(?:(?!(?P=d))[^\\\n]|\\[\s\S])*(?P=d)(?:(?!(?P=d))[^\\\n]|\\[\s\S])*(?P=d)[gpiIM0-9]*"
)
_TRANSLITERATE = r"y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/"
_SED_COMMAND = re.compile(
    rf"\s*(?:{_ADDRESS}\s*(?:,\s*(?:{_ADDRESS}|[+~]\d+))?)?\s*!?\s*"
    rf"(?:{_SUBSTITUTE}|{_TRANSLITERATE}|[pPdDnNhHgGxlFz=]|[qQ]\s*\d*|[bt]\s*\w*|:\w+|[{{}}]|#[^\n]*)?\s*"
)
_SED_END = re.compile(r"[;\n}]|\Z")
_AWK_RISK = re.compile(r"system|getline|@|ENVIRON|ARGV|ARGC|PROCINFO|fflush|close|/inet|\bawk::")
_AWK_TOKEN = re.compile(
    r'(?P<string>"(?:[^"\\\n]|\\[\s\S])*")|(?P<comment>#[^\n]*)|(?P<or>\|\|)|(?P<append>>>)|(?P<compare>>=)|(?P<other>[\s\S])'
)
_AWK_REGEX = re.compile(r"/(?:[^/\\\n]|\\.)*/")
_AWK_BEFORE_REGEX = frozenset("(,~!{};&|\n=?:<>*%^[")
_AWK_AMBIGUOUS = frozenset("+-")
_AWK_KEYWORD = re.compile(r"(?:\A|\W)(?:print|printf|return|in|else|do|case|delete|exit)[ \t]*\Z")
_SED_CLASS = re.compile(r"\[[^\]\n]*[/|#,@%][^\]\n]*\]")
"""GNU sed and others disagree about a delimiter inside of brackets."""


def harmless_sed(script: str) -> bool:
    """Whether a sed script only prints, deletes, or replaces text: no ``e``, ``w``, ``r`` and no such flags."""
    if _SED_CLASS.search(script):
        return False
    position = 0
    while position < len(script):
        found = _SED_COMMAND.match(script, position)
        if found is None or (end := _SED_END.match(script, found.end())) is None:
            if found is not None and found.end() > position and script[found.end() - 1] in "{}":
                position = found.end()
                continue
            return False
        position = end.end() if end.end() > position else position + 1
    return is_literal(script)


def harmless_awk(program: str) -> bool:
    """Whether an awk program only prints: nothing is run, and nothing but the operands is opened."""
    if _AWK_RISK.search(program) or not is_literal(program):
        return False
    position, last, depth, prints = 0, "\n", 0, False
    while position < len(program):
        if program[position] == "/" and (last in _AWK_AMBIGUOUS or _AWK_KEYWORD.search(program, 0, position)):
            return False
        if program[position] == "/" and last in _AWK_BEFORE_REGEX and (found := _AWK_REGEX.match(program, position)):
            position, last = found.end(), "/"
            continue
        token = _AWK_TOKEN.match(program, position)
        if token is None:
            return False
        text = token.group()
        match token.lastgroup:
            case "append":
                return False
            case "or":
                last = "|"
            case "other" if text == "|" or (text == ">" and prints and depth <= 0):
                return False
            case "other" if text in '"\\':
                return False
            case "other" if text == "\n" and (depth > 0 or last in ",|&"):
                pass
            case "other" if text in ";}\n{":
                prints, depth, last = False, 0, text
            case "other" if text in "()":
                depth, last = depth + (1 if text == "(" else -1), text
            case "comment":
                pass
            case _:
                last = text if text.strip(" \t") else last
        if program.startswith("print", position):
            prints, depth = True, 0
        position = token.end()
    return True


def _sed(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(call, _SED, scope)
    scripts = line.values("-e", "--expression")
    files = line.operands if scripts or line.has("-f", "--file") else line.operands[1:]
    in_place = line.has("-i", "-I", "--in-place")
    for file in files:
        recorder.read(file, call.program, scope)
        if in_place:
            recorder.write(file, call.program, scope)
    scripts = scripts or (line.operands[:1] if not line.has("-f", "--file") else ())
    if not all(harmless_sed(script) for script in scripts):
        recorder.unknown("code", "a 'sed' script that may run programs or open files")
        recorder.executes(call, scope)
    elif in_place:
        recorder.executes(call, scope)
    else:
        recorder.settle(call, line, scope)


def _awk(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    line = recorder.take_apart(call, _AWK, scope)
    programs = () if line.has("-f", "--file") else line.operands[:1]
    for operand in line.operands[len(programs) :]:
        if not re.match(r"[A-Za-z_]\w*=", operand):
            recorder.read(operand, call.program, scope)
    assigned = line.values("-v", "--assign")
    if (
        not programs
        or not all(harmless_awk(program) for program in programs)
        or any("/inet" in text for text in assigned)
    ):
        recorder.unknown("code", "an 'awk' program that may run programs or open files")
        recorder.executes(call, scope, code=" ".join(programs))
    else:
        recorder.settle(call, line, scope)


def _jq(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    operands: list[str] = []
    queue, risky, filtered = list(call.words), False, False
    while queue:
        word = queue.pop(0)
        if word in _JQ_VALUES:
            values = [queue.pop(0) if queue else UNKNOWN for _ in range(_JQ_VALUES[word])]
            if word in ("--slurpfile", "--rawfile", "-f", "--from-file"):
                recorder.read(values[-1], call.program, scope)
            risky = risky or word in ("-L", "-f", "--from-file")
            filtered = filtered or word in ("-f", "--from-file")
        elif word.startswith("-") and word != "-":
            risky = risky or not _JQ_FLAG.match(word)
        else:
            operands.append(word)
    filters = () if filtered else operands[:1]
    for operand in operands[len(filters) :]:
        recorder.read(operand, call.program, scope)
    if risky or any(_JQ_RISK.search(text) or not is_literal(text) for text in filters):
        recorder.executes(call, scope)
    else:
        recorder.executes_freely(call)


def _yq(call: Invocation, shell: Shell) -> None:
    recorder, scope = shell.recorder, shell.scope
    words = call.words[1:] if call.words[:1] in (("eval",), ("e",), ("eval-all",), ("ea",)) else call.words
    line = recorder.take_apart(Invocation(call.program, words), _YQ, scope)
    for operand in line.operands[1:]:
        recorder.read(operand, call.program, scope)
        if line.has("-i", "--inplace"):
            recorder.write(operand, call.program, scope)
    if line.has("-i", "--inplace") or any(_JQ_RISK.search(text) or not is_literal(text) for text in line.operands[:1]):
        recorder.executes(call, scope)
    else:
        recorder.settle(call, line, scope)


FILTERS: dict[str, Handler] = {
    "sed": _sed,
    "gsed": _sed,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "jq": _jq,
    "yq": _yq,
}
