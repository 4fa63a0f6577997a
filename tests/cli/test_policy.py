"""``perdure policy check``: what a command would do, without running it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from perdure.cli.commands.policy import policy
from perdure.cli.exits import explained


class Checked(NamedTuple):
    """How the command ended, and what it said."""

    exit_code: int
    output: str


def check(*arguments: str, given: bytes | None = None) -> Checked:
    ended = CliRunner().invoke(policy, ["check", *arguments], input=given, standalone_mode=False)
    return Checked(explained(ended.exception)[0] if ended.exception else ended.return_value, ended.output)


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_allowed_command_ends_with_zero_and_says_why() -> None:
    result = check("ls -la | head")

    assert result.exit_code == 0
    assert result.output.startswith("allow  command:free")


def test_a_command_that_asks_ends_with_one_and_says_what_it_would_do(workspace: Path) -> None:
    result = check("rm notes.txt")

    assert result.exit_code == 1
    assert result.output.startswith("ask  command:write")
    assert f'path="{os.path.realpath(workspace)}/notes.txt"' in result.output


def test_json_has_the_verdict_the_rule_and_the_capabilities(workspace: Path) -> None:
    said = json.loads(check("--json", "cat a > b").output)

    assert (said["verdict"], said["rule"]) == ("ask", "command:write")
    assert said["capabilities"][-1] == {"kind": "exec", "argv": ["cat", "a"], "program": "cat", "free": True}
    assert {"kind": "read", "path": f"{os.path.realpath(workspace)}/a", "by": "cat", "extent": "content"} in said[
        "capabilities"
    ]


def test_allowed_names_run_freely() -> None:
    assert check("--allow", "npm, git", "npm test && git push").exit_code == 0
    assert check("--allow", "npm", "npm test && git push").exit_code == 1
    assert check("--allow", "npm", "npm test > log").exit_code == 1


def test_a_dash_reads_one_command_a_line() -> None:
    result = check("--json", "-", given=b"ls\nrm x\n\xff\n\ncat .env")

    assert [json.loads(line)["rule"] for line in result.output.splitlines()] == [
        "command:free",
        "command:write",
        "safety:unparsable",
        "command:free",
        "safety:credentials",
    ]
    assert result.exit_code == 1


def test_the_syntax_tree_is_shown_on_request() -> None:
    assert "command_name" in check("--tree", "ls").output
    assert "command_name" in json.loads(check("--json", "--tree", "ls").output)["tree"]
    assert "does not parse" in check("--tree", "ls (").output


def test_a_link_on_the_disk_is_followed(workspace: Path) -> None:
    (workspace / "shortcut").symlink_to("/etc")

    assert json.loads(check("--json", "cat shortcut/shadow").output)["rule"] == "safety:credentials"
    assert json.loads(check("--json", "cat short*/shadow").output)["rule"] == "safety:credentials"


def test_another_workspace_can_be_named(workspace: Path) -> None:
    (workspace / "inner").mkdir()

    assert check("--workspace", "inner", "ls").exit_code == 0
    assert check("--workspace", "inner", "ls ..").exit_code == 1


def test_a_reason_stays_on_its_line() -> None:
    first, *_ = check("./x 'a\nb'").output.splitlines()

    assert first.endswith("a b'")


@pytest.mark.parametrize("arguments", [(), ("--allow", "a/b", "ls"), ("--nonsense", "ls")])
def test_wrong_usage_ends_with_two(arguments: tuple[str, ...]) -> None:
    assert check(*arguments).exit_code == 2
