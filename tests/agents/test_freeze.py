from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure.agents.freeze import agent_digest, check_policy, freeze
from perdure.agents.shelf import AgentShelf
from perdure.contracts.agent import AgentSpec, ApprovalRule, ArgumentRule, FrozenAgent, Limits, ToolPolicy, Waiting
from perdure.contracts.errors import InvalidInputError, UnknownToolError
from perdure.contracts.schemas import Schema
from perdure.contracts.tools import HostedTool, ToolSpec

SERVED = (ToolSpec(name="read_file", effect="read"), ToolSpec(name="write_file", effect="write"))
ANNA = AgentSpec(name="anna", prompt="I am Anna.", limits=Limits(steps=7))


def test_a_frozen_agent_has_all_that_a_run_needs() -> None:
    waiting = Waiting(deadline=timedelta(hours=1))
    spec = ANNA.model_copy(update={"policy": (ToolPolicy(tool="write_file", word="deny"),), "waiting": waiting})
    house = (ToolPolicy(tool="*", word="ask"),)

    frozen = freeze(spec, SERVED, "demo:demo", workspace="/work", house_policy=house)

    assert frozen == FrozenAgent(
        name="anna",
        prompt="I am Anna.",
        model="demo:demo",
        tools=SERVED,
        scope=None,
        policy=spec.policy,
        house_policy=house,
        waiting=waiting,
        limits=Limits(steps=7),
        workspace="/work",
        digest=agent_digest(frozen),
    )


@pytest.mark.parametrize(
    ("tools", "scope"),
    [(None, None), ((), ()), (("read_file",), ("read_file",)), (("read_file", "read_file"), ("read_file",))],
)
def test_the_scope_is_kept_beside_all_tools_that_are_served(tools: Any, scope: Any) -> None:
    frozen = freeze(ANNA.model_copy(update={"tools": tools}), SERVED, "demo:demo")

    assert (frozen.scope, frozen.tools) == (scope, SERVED)


def test_limits_of_the_run_replace_the_agents_own() -> None:
    assert freeze(ANNA, SERVED, "demo:demo", Limits(steps=2)).limits == Limits(steps=2)


@pytest.mark.parametrize(
    ("update", "said"),
    [
        (
            {"tools": ("raed_file",)},
            "names the tool 'raed_file' under 'tools', which this worker does not serve. Did you",
        ),
        ({"policy": (ToolPolicy(tool="wirte_file", word="deny"),)}, "'wirte_file' under 'policy'"),
        ({"tools": ("zzz",)}, "does not serve. Served tools: read_file, write_file."),
    ],
)
def test_a_tool_that_nobody_serves_is_refused_with_those_that_are(update: dict[str, Any], said: str) -> None:
    with pytest.raises(UnknownToolError) as raised:
        freeze(ANNA.model_copy(update=update), SERVED, "demo:demo")

    assert said in str(raised.value)
    assert str(raised.value).startswith("The agent 'anna' ")
    assert str(raised.value).endswith("Served tools: read_file, write_file.")


def test_a_pattern_may_fit_no_tool_that_is_served() -> None:
    policy = (ToolPolicy(tool="mail__*", word="deny"),)
    assert freeze(ANNA.model_copy(update={"policy": policy}), SERVED, "demo:demo").policy == policy


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            ToolPolicy(tool="*", when=(ArgumentRule(argument="path", match="regex", value="("),)),
            "has a rule for '*' under 'policy' that has '(' for a regular expression: missing )",
        ),
        (
            ToolPolicy(tool="read_file", approval=ApprovalRule(approvers=("ada", "ada"), needed=2)),
            "has a rule for 'read_file' under 'policy' that needs 2 people and names 1.",
        ),
    ],
)
def test_a_rule_that_could_never_do_what_it_says_is_refused(rule: ToolPolicy, said: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        freeze(ANNA.model_copy(update={"policy": (rule,)}), SERVED, "demo:demo")

    assert str(raised.value).startswith(f"The agent 'anna' {said}")


def test_the_house_policy_is_checked_for_itself() -> None:
    with pytest.raises(UnknownToolError, match=r"^The house policy names the tool 'raed_file' under 'policy'"):
        check_policy("The house policy", (ToolPolicy(tool="raed_file", word="deny"),), SERVED)


def test_the_digest_is_the_same_for_the_same_agent_and_survives_json() -> None:
    frozen = freeze(ANNA, SERVED, "demo:demo")

    assert frozen.digest == freeze(ANNA, SERVED, "demo:demo").digest
    read = FrozenAgent.model_validate_json(frozen.model_dump_json())
    assert agent_digest(read) == read.digest == frozen.digest


@pytest.mark.parametrize("field", sorted(set(FrozenAgent.model_fields) - {"digest"}))
def test_the_digest_changes_with_every_field(field: str) -> None:
    frozen = freeze(ANNA, SERVED, "demo:demo")
    others: dict[str, Any] = {
        "name": "berta",
        "prompt": "I am Berta.",
        "model": "demo:other",
        "fallbacks": ("demo:other",),
        "models": {"compression": "demo:other"},
        "tools": SERVED[:1],
        "hosted": (HostedTool(tool="web_search"),),
        "scope": ("read_file",),
        "policy": (ToolPolicy(tool="read_file", word="deny"),),
        "house_policy": (ToolPolicy(tool="read_file", word="deny"),),
        "waiting": Waiting(default="approve"),
        "limits": Limits(steps=8),
        "output": {"type": "object"},
        "workspace": "/elsewhere",
    }

    assert agent_digest(frozen.model_copy(update={field: others[field]})) != frozen.digest


def test_editing_the_file_changes_nothing_for_what_was_frozen_from_it(tmp_path: Path) -> None:
    shelf = AgentShelf([tmp_path])
    (tmp_path / "anna.md").write_text("First.")
    frozen = freeze(shelf.get("anna"), SERVED, "demo:demo")

    (tmp_path / "anna.md").write_text("---\ntools: []\n---\nSecond.")

    assert (frozen.prompt, frozen.scope) == ("First.", None)
    assert freeze(shelf.get("anna"), SERVED, "demo:demo").digest != frozen.digest


def test_a_schema_that_no_output_can_be_held_to_is_refused() -> None:
    wrong: tuple[tuple[AgentSpec, Schema | None], ...] = (
        (AgentSpec(output={"type": "objekt"}), None),
        (AgentSpec(), {"$ref": "#"}),
    )
    for spec, output in wrong:
        with pytest.raises(InvalidInputError, match="The output schema cannot be used"):
            freeze(spec, (), "scripted:test", output=output)
