"""A real bash reads files for made-up commands that were allowed; no secret file may be among them."""

from __future__ import annotations

import os
import random
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from perdure.activities.disk import LocalDisk
from perdure.authority.capabilities import Capability
from perdure.authority.commands import analyse_command, judge_command
from perdure.authority.paths import MachineFacts, with_disk

SECRET = "the secret"
_PIECES = (
    ".e", "nv", ".env", "env", ".", "e", "n", "v", '"', "'", "\\", "*", "?", "[.]", "e]", "[!a]", "{", "}", ",",
    "{.env,a}",
    "{a..z}", "$x", "${x}", '"$x"', "${x:-.env}", "${y:-a}", "$HOME", "~", "/", "..", "../", "./", "sub", "link", "up",
    ".ssh", "id_rsa", "id_", "a", "outside", "up/", "$PWD", "$(echo .env)", "`echo .env`", "$'.\\x65nv'", "$'\\x2e'",
    "*v",
    "?env", ".??v", ".*", "sub/", "s*/", "up/outside", "#", " ",
)  # fmt: skip
_BEFORE = (
    "", "", "", "x=.env; ", "x=.; ", "x=env; ", "x=..; ", "cd sub; ", "cd ..; ", "cd ~; ", "cd up; ", "cd sub && ",
    "x=.ssh; ",
    "for x in .env a; do ", "for x in .e*; do ", "f() { ", "x=a; ", "x=../outside; ", "(cd ..); ", "cd up/..; ",
    "cd -; ",
    'cd "$x"; ',
)  # fmt: skip
_COMMANDS = (
    "cat {}", "cat < {}", "head -1 {}", "grep -h . {}", "cat -- {}", "sed p {}", 'echo "$(< {})"', "sort {}",
    "cat a {}",
    "awk 1 {}", "while read -r z; do echo $z; done < {}", "find . -name {} -exec cat {} +", "xargs cat <<< {}",
    "tac {}",
    "grep -rh . {}", "find {} -type f -exec cat {} +", "find {} -type f -print0 | xargs -0 cat", "rg --hidden . {}",
    "grep -rh --include=* . {}", "grep -rh --exclude=.env . {}", "cat {}*", "cat {}/*", "head {}*/*", "diff -r sub {}",
    'for z in {}*; do cat "$z"; done',
    "cut -c1-9 {}", 'mapfile -t z < {}; echo "${{z[@]}}"', "diff a {}", "nl {}",
)  # fmt: skip


def command(source: random.Random) -> str:
    """A command that reads a file, whose name is put together in all kinds of ways."""
    before = "".join(source.choice(_BEFORE) for _ in range(source.randint(0, 3)))
    word = "".join(source.choice(_PIECES) for _ in range(source.randint(1, 5)))
    text = before + source.choice(_COMMANDS).replace("{}", word, 1).replace("{{", "{").replace("}}", "}")
    return text + "; done" * before.count("do ") + "; }" * before.count("{ ") + ("; f" if "f()" in before else "")


def secrets(count: int, seed: int) -> str:
    """Run the allowed ones of made-up commands, and report those that show a secret, or what lies outside."""
    source = random.Random(seed)
    ran, leaks = 0, []
    with tempfile.TemporaryDirectory() as place:
        home, workspace = Path(place) / "home", Path(place) / "home" / "work"
        _furnish(Path(place))
        plain = MachineFacts(home=os.path.realpath(home), workspace=os.path.realpath(workspace))
        for _ in range(count):
            text = command(source)
            facts = with_disk(_capabilities_of(text), plain, LocalDisk())
            if judge_command(text, facts).decision == "allow":
                ran += 1
                if SECRET in _shown(text, workspace, home):
                    leaks.append(text)
    return f"{count} inputs, seed {seed}: {ran} allowed and run by bash, {len(leaks)} of them leak{leaks[:5] or ''}"


def _capabilities_of(text: str) -> Callable[[MachineFacts], tuple[Capability, ...]]:
    return lambda facts: analyse_command(text, facts).capabilities


def _furnish(place: Path) -> None:
    work = place / "home" / "work"
    (work / "sub").mkdir(parents=True)
    (place / "home" / ".ssh").mkdir()
    for file in (work / ".env", work / "sub" / ".env", place / "home" / ".ssh" / "id_rsa", place / "outside"):
        file.write_text(SECRET)
    (place / "home" / "outside").write_text(SECRET)
    for file in (work / "a", work / "sub" / "b", work / "env"):
        file.write_text("fine\n")
    (work / "link").symlink_to(".env")
    (work / "up").symlink_to("../..")


def _shown(text: str, workspace: Path, home: Path) -> str:
    environment = {"PATH": "/usr/bin:/bin", "HOME": os.fspath(home)}
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", text],
            cwd=workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
        )
    except (subprocess.TimeoutExpired, ValueError):
        return ""
    return done.stdout.decode(errors="replace")
