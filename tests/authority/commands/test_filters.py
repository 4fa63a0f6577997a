"""The harmless parts of the languages of sed and awk."""

from __future__ import annotations

import pytest

from perdure.authority.commands.filters import harmless_awk, harmless_sed


@pytest.mark.parametrize(
    "script",
    [
        "1,3p", "$p", "/a/,/b/p", "s/a/b/g", "s|a|b|", "10q", "/x/d;s/a/b/", "/^$/d", "s/a/b/p;n", "/a/{s/x/y/;p}",
        "2~3p",
        "$!N;P;D", "=", "/foo/I p", "s/\\//-/g", "y/abc/def/", "s/[^a-z]/_/g", "1!G;h;$!d",
    ],
)  # fmt: skip
def test_a_sed_script_that_prints_and_replaces_is_harmless(script: str) -> None:
    assert harmless_sed(script)


@pytest.mark.parametrize(
    "script",
    [
        "s/a/b/e", "1e rm x", "e", "w /tmp/x", "s/a/b/w f", "r /etc/shadow", "R f", "W f", "1,3w x", "s/a/b/;e rm",
        "s/a/b/ge",
        "/a/{e rm\n}", "}e rm", "{e", "p w x", "1p\nw f", "s/[/]e/x/w f", "y/a/b/;e", "a\\\nx\ne", "s,a,b,e",
        "s/a\nb/w f",
    ],
)  # fmt: skip
def test_a_sed_script_that_runs_or_opens_something_is_not(script: str) -> None:
    assert not harmless_sed(script)


@pytest.mark.parametrize(
    "program",
    [
        "{print $1}", "$3 > 100 {print $1}", "NR>5", "/a|b/ {print}", "{s+=$1} END {print s}",
        "{ if ($1 > 2) print $2 }",
        "{print ($1>2)}", "a || b", '{printf "%s\\n", $1}', "{print NF/2}", "!/a/ && /b/", "length($0) > 80",
        '$1 ~ /x"y/ {print}',
        "{a[$1]++} END {for (k in a) print k, a[k]}", '{print "a > b | c"}', "# a > b\n{print}",
    ],
)  # fmt: skip
def test_an_awk_program_that_prints_is_harmless(program: str) -> None:
    assert harmless_awk(program)


@pytest.mark.parametrize(
    "program",
    [
        '{system("x")}', '{print > "f"}', '{print >> "f"}', '{print | "sh"}', '{print |& "sh"}', '"ls" | getline',
        '/"/ { print "x" | "sh" } /"/', 'BEGIN{ARGV[1]="x"}', '{print 1 / 2 > "f" }', '@load "x"',
        '# "\n{print | "sh"}\n# "',
        '{print /"/ > "f" ; /"/}', '{print (1,\n2) > "f"}', '{print 1 \\\n > "f"}', '{for(;;) print "x" > "f"}',
        '{print "a" "b" > $1}', 'BEGIN{f="system"; @f("x")}', '{print ENVIRON["A"]}', '{printf("x") > "f"}',
        '{x = /"/ ; print "a" > "f" /"/}', '{if (1) print "x" > "f"; else print}',
    ],
)  # fmt: skip
def test_an_awk_program_that_runs_or_opens_something_is_not(program: str) -> None:
    assert not harmless_awk(program)
