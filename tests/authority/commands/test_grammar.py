"""Text that parses as bash reads it, and text whose meaning is in doubt."""

from __future__ import annotations

import pytest

from perdure.authority.commands.grammar import parse
from perdure.authority.commands.unparsable import UnparsableError


@pytest.mark.parametrize(
    "text",
    [
        "ls -la",
        "ls \\\n  -la",
        "echo \"a $x  b\" c",
        "cat <<EOF\n  a $x $(ls)\nEOF\nls",
        "cat <<'EOF'\n`a` $(b) \\\n EOF\nEOFX\nEOF\nls",
        "cat <<-EOF\n\tx\n\tEOF\nls",
        "if [ -f a ]; then\n ls\nfi # b\nls",
        "case $x in a|b) ls;; *) rm;; esac",
        "[[ a =~ ^(x|y)$ ]] && ls",
        "ls |\n cat",
        "echo a$ \"b$ c\" a#b",
        "",
    ],
)  # fmt: skip
def test_what_bash_would_run_parses(text: str) -> None:
    parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "r\\\nm x",
        "{rm,-rf,/}",
        "ls (",
        "echo 'open",
        'echo "open',
        "a | | b",
        "echo @(a|b)",
        "ls \x00",
        "ls\r",
        "ls \u202e",
        "echo $'\\''; rm x #'",
        "cat <<EOF\na `rm`\nEOF",
        "cat <<EOF\nEO\\\nF\nrm x\nEOF",
        "cat <<EOF\nx",
        "cat <<A <<B\nx\nA\ny\nB",
        "ls >\nx",
        "ls <> x",
        "\ud800",
        "(" * 60 + "ls" + ")" * 60,
        "ls; " * 5000,
    ],
)
def test_what_bash_may_read_otherwise_does_not_parse(text: str) -> None:
    with pytest.raises(UnparsableError):
        parse(text)


def test_a_here_document_that_only_looks_like_one_hides_nothing() -> None:
    tree = parse('echo "<<\'E\'\n"; rm x; echo "\nE\n"')

    assert "rm" in tree.source.decode()
    assert tree.root.child_count == 5
