"""What a command line would do, as capabilities."""

from __future__ import annotations

import pytest

from perdure.authority.capabilities import ExecArgv, NetworkHost, ReadPath, Unknown, WritePath
from perdure.authority.commands import analyse_command
from perdure.authority.patterns import shown
from tests.authority.corpus.lines import FACTS


def found(text: str) -> set[str]:
    """The capabilities in short: ``r`` and ``w`` with a path, ``x`` with a program, ``n`` with a host, ``?``."""
    short = set()
    for capability in analyse_command(text, FACTS).capabilities:
        match capability:
            case ReadPath(path=path):
                short.add(f"r {shown(path).removeprefix('/home/u/work/')}")
            case WritePath(path=path):
                short.add(f"w {shown(path).removeprefix('/home/u/work/')}")
            case ExecArgv(program=program):
                short.add(f"x {shown(program)}")
            case NetworkHost(host=host):
                short.add(f"n {shown(host)}")
            case Unknown(cause=cause):
                short.add(f"? {cause}")
    return short


def ran(text: str) -> ExecArgv:
    """The one program that the command runs."""
    (program,) = (c for c in analyse_command(text, FACTS).capabilities if isinstance(c, ExecArgv))
    return program


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat a b", "x cat|r a|r b"),
        ("cat a | grep -f p b > c", "x cat|r a|x grep|r p|r b|w c"),
        ("rm -rf a b", "x rm|w a|w b"),
        ("cp a b c/d", "x cp|r a|r b|w c/d|w c/d/a|w c/d/b"),
        ("cp -t d a", "x cp|r a|w d|w d/a"),
        ("mv a b", "x mv|r a|w a|w b|w b/a"),
        ("tee -a x y", "x tee|w x|w y"),
        ("dd if=a of=b bs=1", "x dd|r a|w b"),
        ("sort -uo out in", "x sort|r in|w out"),
        ("chmod -R u+w a", "x chmod|w a"),
        ("chmod -w a", "x chmod|w a"),
        ("sed -i s/a/b/ f", "x sed|r f|w f"),
        ("tar -cf a.tar src", "x tar|w a.tar|r src"),
        ("tar tf a.tar", "x tar|r a.tar"),
        ("curl -so out https://u:p@example.com:80/x", "x curl|n example.com|w out"),
        ("curl -d @body -F f=@form https://example.com", "x curl|n example.com|r body|r form"),
        ("scp a host:b", "x scp|r a|n host"),
        ("sudo -u root -- env A=1 nice -n 5 timeout -k 1 5 tee x", "x sudo|x tee|w x"),
        ("find src -name '*.py' -exec grep -l x {} +", "x find|r src|x grep|r src/**/*.py"),
        ("find src -print0 | xargs -0 cat", "x find|r src|x cat|r src/**"),
        ("find src | xargs cat", "x find|r src|x cat|r {unknown}"),
        ("bash -c 'cat a; sh -c \"cat b\"'", "x cat|r a|r b"),
        ("bash <<'E'\ncat a\nE\n", "x cat|r a"),
        ("bash <<< 'cat a'", "x cat|r a"),
        ("eval 'cat a'", "x cat|r a"),
        ("echo $(cat a) `cat b` \"$(cat c)\"", "x echo|x cat|r a|r b|r c"),
        ("diff <(cat a) b", "x diff|x cat|r a|r b|r /dev/fd/63"),
        ("cat <<E\n$(cat a)\nE", "x cat|r a"),
        ("cat {a,b}/c", "x cat|r a/c|r b/c"),
        ("cat ~/a $HOME/b $PWD/c", "x cat|r /home/u/a|r /home/u/b|r c"),
        ("x=a; cat $x/b", "x cat|r a/b"),
        ("for f in a b*; do cat \"$f\"; done", "x cat|r a|r b*"),
        ("cd src && cat a", "x cd|x cat|r a|r src/a"),
        ("(cd src; cat a); cat b", "x cd|x cat|r a|r src/a|r b"),
        ("git -C src diff a", "x git|r src|r src/a"),
        ("f() { cat $1 b; }; f", "x cat|r {unknown}|r b|x f"),
        ("cat < a 2> b", "x cat|r a|w b"),
        ("> a", "w a"),
        ("echo $(<a)", "x echo|r a"),
        ("$x a", "? command|x {unknown}|x a"),
        ("PATH=. ls", "? environment|x ls|r /home/u/work"),
        ("python3 -c 'x'", "? code|x python3"),
        ("ls | sh", "? code|x ls|x sh|r /home/u/work"),
        ("echo a # rm b", "x echo"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_command_has_these_capabilities(text: str, expected: str) -> None:
    assert found(text) == set(filter(None, expected.split("|")))


@pytest.mark.parametrize("text", ["ls -la", "sort -u a", "git log -3", "sed -n 1p a", "rg x", "npm ls", "ps aux"])
def test_a_program_that_only_reads_is_free(text: str) -> None:
    assert ran(text).free


@pytest.mark.parametrize(
    "text",
    [
        "sort --compress-program=x a",
        "ls --unknown",
        "git push",
        "git log --ext-diff",
        "git remote -v set-url origin x",
        "git grep --untracked --no-exclude-standard x",
        "npm test",
        "ps eww",
    ],
)
def test_an_option_or_a_subcommand_that_the_tables_do_not_have_is_not_free(text: str) -> None:
    assert not ran(text).free


def test_the_paths_in_unknown_arguments_and_in_code_are_mentioned() -> None:
    for text in ("make --file=a/b", "x @a/b", "y -Ia/b", "python3 -c \"open('a/b')\"", "node -e 'read(`a/b`)'"):
        assert "/home/u/work/a/b" in ran(text).mentions, text


def test_a_tree_is_drawn_one_node_a_line() -> None:
    drawn = analyse_command("ls -la", FACTS).drawn_tree().splitlines()

    assert drawn == ["program", "  command", "    command_name", "      word 'ls'", "    word '-la'"]
