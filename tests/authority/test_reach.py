from __future__ import annotations

from typing import get_args

import pytest
from pydantic import JsonValue

from perdure.authority.capabilities import ExecArgv, ReadPath, WritePath
from perdure.authority.reach import capabilities_of, safety_verdict
from perdure.contracts.agent import Mode, PolicyWord, ToolPolicy
from perdure.contracts.tools import ToolSpec
from tests.authority.calls import FACTS, REQUEST, approval_of, approved, calls, decided, verdict_on

READ = ToolSpec(name="read_file", effect="read", path_arguments=("path", "more"))
WRITE = ToolSpec(name="write_file", effect="write", path_arguments=("path",))
RUN = ToolSpec(name="run", effect="execute", command_argument="command")
REQUESTED = REQUEST.model_copy(update={"tools": (READ, WRITE, RUN)})

DANGEROUS: list[tuple[ToolSpec, dict[str, JsonValue], str]] = [
    (READ, {"path": "/etc/shadow"}, "safety:credentials"),
    (READ, {"path": "~/.ssh/id_ed25519"}, "safety:credentials"),
    (READ, {"path": "a.txt", "more": ["b.txt", ".env"]}, "safety:credentials"),
    (WRITE, {"path": "/home/u/.bashrc"}, "safety:startup"),
    (RUN, {"command": "rm -rf /"}, "safety:delete-root"),
    (RUN, {"command": "cat ~/.aws/credentials"}, "safety:credentials"),
    (RUN, {"command": "if true; then"}, "safety:unparsable"),
]


def test_declared_paths_are_read_alone_and_in_lists() -> None:
    reach = capabilities_of(READ, {"path": "a", "more": ["b", 5, None], "other": "c"}, FACTS)
    assert reach == (ReadPath("/home/u/work/a", ""), ReadPath("/home/u/work/b", ""))


def test_what_is_no_text_names_nothing() -> None:
    assert capabilities_of(READ, {"path": 5}, FACTS) == ()
    assert capabilities_of(RUN, {"command": None}, FACTS) == ()
    assert capabilities_of(ToolSpec(name="plain"), {"path": "/etc/shadow", "command": "rm x"}, FACTS) == ()


def test_a_declared_command_is_read_as_a_command() -> None:
    reach = capabilities_of(RUN, {"command": "rm x"}, FACTS)
    assert any(isinstance(capability, ExecArgv) and capability.program == "rm" for capability in reach)
    assert any(isinstance(capability, WritePath) and capability.change == "delete" for capability in reach)


def test_a_safety_verdict_names_tool_rule_and_place() -> None:
    verdict = safety_verdict(READ, {"path": "/etc/shadow"}, FACTS)
    assert verdict is not None
    assert verdict.reason == '"read_file" touches a file that may hold credentials: /etc/shadow.'


@pytest.mark.parametrize("path", ["notes.txt", ".env.example", "~/.ssh/id_ed25519.pub"])
def test_ordinary_files_match_no_safety_rule(path: str) -> None:
    assert safety_verdict(READ, {"path": path}, FACTS) is None


@pytest.mark.parametrize(("tool", "arguments", "rule"), DANGEROUS)
def test_a_safety_rule_asks_in_every_mode_and_under_every_policy(
    tool: ToolSpec, arguments: dict[str, JsonValue], rule: str
) -> None:
    words: tuple[PolicyWord | None, ...] = (None, "allow", "ask", "always_ask")
    for mode in get_args(Mode):
        for word in words:
            policy = () if word is None else (ToolPolicy(tool=tool.name, word=word),)
            request = REQUESTED.model_copy(update={"mode": mode, "policy": policy})
            assert decided(verdict_on(calls(tool.name, **arguments), request)) == ("ask", rule)


@pytest.mark.parametrize(("tool", "arguments", "rule"), DANGEROUS)
def test_a_safety_rule_denies_where_nobody_can_be_asked(
    tool: ToolSpec, arguments: dict[str, JsonValue], rule: str
) -> None:
    request = REQUESTED.model_copy(update={"mode": "auto", "humans": "none"})
    assert decided(verdict_on(calls(tool.name, **arguments), request)) == ("deny", "no_human")


def test_a_policy_that_denies_is_stricter_than_a_safety_rule() -> None:
    request = REQUESTED.model_copy(update={"policy": (ToolPolicy(tool="run", word="deny"),)})
    assert decided(verdict_on(calls("run", command="rm -rf /"), request)) == ("deny", "policy")


def test_what_a_safety_rule_asks_runs_once_a_person_approved_exactly_that() -> None:
    digest = verdict_on(calls("run", command="rm -rf build"), REQUESTED).digest
    asked = verdict_on(calls("run", command="rm -rf /"), REQUESTED, response=approved(digest))
    assert decided(asked) == ("ask", "safety:delete-root")
    again = verdict_on(calls("run", command="rm -rf /"), REQUESTED, response=approval_of(asked))
    assert decided(again) == ("allow", "approved")
