"""Made-up commands: pieces of shell syntax thrown together, valid and broken, harmless and not."""

from __future__ import annotations

import random

from tests.authority.corpus.lines import ALWAYS_ASK, MUST_ASK, MUST_PASS

PIECES = (
    "mark", "mark x", "echo", "ls", "echo a", " ", "  ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{ ", "; }", "`",
    "$(",
    "$((", "))", '"', "'", "\\", "$'", '$"', "#", " #", "<<EOF\n", "\nEOF\n", "<<'E'\n", "\nE\n", "<<<", "$x", "${x",
    "}",
    ":-", "x=", "x", "if ", "; then ", "; fi", "for i in ", " do ", "; done", "while ", "case x in ", " x) ", ";; esac",
    "f() { ", "[[ ", " ]]", "[ ", " ]", "=", "!", "~", "*", "\\\n", "\t", "a", "2>&1", ">/dev/null", "<(", ">(", "-n",
    "eval ", "command ", "time ", "env ", "bash -c ", "EOF", '\\"', "\\'", "true", "cat", " <<-X\n", "\n\tX\n", "$",
    "{",
    "=~", "@", "%", "/", "${#x}", '"$(', ')"', "function f ", "coproc ", "trap ", " EXIT", "a[", "]=1", "xargs ",
    "1", "+",
    "-eq",
)  # fmt: skip
SHAPES = (
    'echo "{}"', "echo '{}'", "echo {}", "ls; {}", "echo $({})", 'echo "$({})"', "cat <<EOF\n{}\nEOF",
    "cat <<'E'\n{}\nE\n", "{} # mark", "# {}", "[[ {} ]]", "echo ${x:-{}}", "if {}; then ls; fi", "echo a{}",
    "echo `{}`",
    "for i in {}; do echo $i; done", "case {} in *) ls;; esac", "x={} echo", "echo \"a\" {} 'b'", 'bash -c "{}"',
    "bash -c '{}'", "eval {}", "{} && ls", "echo <(ls {})",
)  # fmt: skip
_STRANGE = "\x00\x01\x1b\r\u202e\u200b\ud800é€𝔯\xa0\u2028"


def thrown_together(source: random.Random) -> str:
    """A few pieces in a row, perhaps inside of a shape or two."""
    text = "".join(source.choice(PIECES) for _ in range(source.randint(1, 9)))
    for _ in range(source.randint(0, 2)):
        text = source.choice(SHAPES).replace("{}", text, 1)
    return text


def anything(source: random.Random) -> str:
    """Any kind of input: pieces, real commands cut up and spliced, repetitions, long and deep ones, raw characters."""
    real = source.choice((*MUST_PASS, *MUST_ASK, *ALWAYS_ASK))
    match source.randrange(8):
        case 0 | 1 | 2:
            return thrown_together(source)
        case 3:
            other = source.choice(MUST_ASK)
            return real[: source.randint(0, len(real))] + other[source.randint(0, len(other)) :]
        case 4:
            characters = list(real)
            for _ in range(source.randint(1, 4)):
                characters[source.randrange(len(characters))] = source.choice("\"'`$(){}[]<>|&;\\\n #*?~=!" + _STRANGE)
            return "".join(characters)
        case 5:
            return source.choice(PIECES) * source.randint(1, 400)
        case 6:
            deep = source.randint(1, 120)
            opening, closing = source.choice(
                (("(", ")"), ("$(", ")"), ("{ ", "; }"), ('"$(', ')"'), ("bash -c '", "'"))
            )
            return opening * deep + real + closing * deep
        case _:
            return "".join(chr(source.choice((source.randrange(32, 127), source.randrange(0x3000)))) for _ in range(60))
