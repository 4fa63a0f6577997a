"""Trees and globs, in a workspace that holds files with credentials."""

from __future__ import annotations

from dataclasses import replace

import pytest

from perdure.authority.commands import analyse_command, judge_command, judge_paths
from perdure.authority.searches import DEEPEST, searched
from tests.authority.corpus.lines import FACTS

HELD = (".env", "server.pem", "sub/.npmrc", "sub/secrets.json")
FURNISHED = replace(FACTS, credentials=tuple(f"{FACTS.workspace}/{name}" for name in HELD))


def opened(command: str) -> str:
    """The first file that the command is asked about for its credentials, from the workspace; else the decision."""
    verdict = judge_command(command, FURNISHED)
    where = verdict.reason.rpartition(f"{FACTS.workspace}/")[2]
    return where if verdict.rule == "safety:credentials" else verdict.decision


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("grep -r . .", ".env"),
        ("grep -rn KEY", ".env"),
        ("grep -d recurse KEY .", ".env"),
        ("grep -r x sub", "sub/.npmrc"),
        ("grep -r x ser*", "ser*"),
        ("grep -r x *", "server.pem"),
        ("rg x", "server.pem"),
        ("rg --hidden x", ".env"),
        ("rg -. x", ".env"),
        ("rg -g '*' x", ".env"),
        ("rg -g '!*.pem' x", "sub/secrets.json"),
        ("find . -type f -exec cat {} +", ".env"),
        ("find sub -type f -print0 | xargs -0 head", "sub/.npmrc"),
        ("find . -name '*.json' -exec cat {} +", "sub/secrets.json"),
        ("for f in *; do cat \"$f\"; done", "server.pem"),
        ("cat *", "server.pem"),
        ("cat */*", "sub/secrets.json"),
        ("cat *.pem", "*.pem"),
        ("tar c .", ".env"),
        ("cp -r . /tmp/x", ".env"),
        ("zip -r x.zip sub", "sub/.npmrc"),
        ("rsync -a sub host:", "sub/.npmrc"),
        ("diff -r . ../other", ".env"),
        ("grep -r --exclude=.env x .", "server.pem"),
        ("grep -r --exclude=.env --exclude='*.pem' --exclude=.npm* --exclude-dir=.env x .", "sub/.npmrc"),
        ("grep -r --exclude=$X x .", ".env"),
        ("grep -r --exclude-dir=work x /home/u/work", ".env"),
        ("grep -r --include='*.pe?' x .", "server.pem"),
        ("grep -r --include=secrets.json --include='*.py' x .", "sub/secrets.json"),
    ],
)  # fmt: skip
def test_a_search_that_comes_upon_a_file_with_credentials_asks_and_names_it(command: str, file: str) -> None:
    assert opened(command) == file


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn TODO src",
        "grep -rn --include='*.py' TODO .",
        "grep -rn --include=*.py TODO .",
        "grep -r --exclude='.env*' --exclude='*.pem' --exclude-dir=sub x .",
        "rg -g '*.ts' x",
        "rg -g '!*.pem' -g '!sub' x",
        "rg -g '!*.pem' -g '!**/secrets.json' x",
        "rg --files",
        "find . -name '*.py' -exec grep x {} +",
        "find . -type f",
        "ls -R",
        "ls *",
        "du -a .",
        "cat *.md",
        "cat sub/*.py",
        "git grep x",
        "cat README.md",
    ],
)
def test_a_search_that_passes_them_over_is_free(command: str) -> None:
    assert opened(command) == "allow"


def test_a_glob_of_a_file_tool_comes_upon_them_too() -> None:
    assert judge_paths("read", ["*"], FURNISHED).rule == "safety:credentials"
    assert judge_paths("read", ["**/*.json"], FURNISHED).rule == "safety:credentials"
    assert judge_paths("read", ["src/*"], FURNISHED).rule == "path:workspace"


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("cat a.txt", {}),
        ("ls -R", {}),
        ("grep -r x .", {"": DEEPEST}),
        ("find src -type f -exec cat {} +", {"/src": DEEPEST}),
        ("cat *", {"": 1}),
        ("cat src/*/*.c; cat src/*", {"/src": 2}),
        ("cat src/*; grep -r x src", {"/src": DEEPEST}),
        ("cat \"$X\"/*", {}),
    ],
)  # fmt: skip
def test_only_folders_that_are_searched_are_looked_at_and_no_deeper_than_that(
    command: str, folders: dict[str, int]
) -> None:
    found = searched(analyse_command(command, FACTS).capabilities)
    assert found == {f"{FACTS.workspace}{folder}": depth for folder, depth in folders.items()}
