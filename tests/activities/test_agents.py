from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.agents import AgentActivities
from perdure.activities.functions import tool_from
from perdure.activities.toolbox import Toolbox
from perdure.agents.freeze import agent_digest
from perdure.agents.models import NamedModels
from perdure.agents.shelf import AgentShelf
from perdure.contracts.activities import AgentQuery, Patience, ResolvedAgent
from perdure.contracts.agent import AgentSpec, Limits, ToolPolicy
from perdure.contracts.errors import UnknownModelError
from perdure.contracts.failures import Failure
from perdure.providers.provider import Provider
from perdure.providers.scripted import Script, ScriptedProvider


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def drop(name: str) -> None:
    """Drop something."""


class Known:
    """Opens the models of the provider ``known``."""

    def open(self, model: str) -> Provider:
        if not model.startswith("known:"):
            raise UnknownModelError(f"There is no provider of {model!r}.")
        return ScriptedProvider(Script(replies=()))


CLERK = """---
description: Keeps the books.
model: known:file
tools: [add]
policy: {add: ask}
limits: {steps: 7}
---
You keep the books.
"""

HOUSE = (ToolPolicy(tool="*", word="ask"),)
Resolve = Callable[..., Any]


@pytest.fixture
def resolve(tmp_path: Path) -> Resolve:
    """``await resolve("clerk", model=…)``: what the worker makes of a start."""
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "clerk.md").write_text(CLERK)
    (folder / "broken.md").write_text("---\ntools: [\n---\n")
    (tmp_path / "work" / "sub").mkdir(parents=True)
    activities = AgentActivities(
        AgentShelf([folder]),
        Toolbox([tool_from(add), tool_from(drop)]),
        Known(),
        models=NamedModels("known:default"),
        limits=Limits(steps=20, feedback_rounds=1),
        workspace=tmp_path / "work",
        search_attributes=True,
        house_policy=HOUSE,
        notifications=True,
        patience=Patience(heartbeat=timedelta(seconds=3)),
    )

    async def resolved(agent: str | AgentSpec, **given: Any) -> ResolvedAgent:
        query = AgentQuery(run_id="r", agent=agent, **given)
        return await ActivityEnvironment().run(activities.resolve_agent, query)

    return resolved


async def failure(attempt: Any) -> Failure:
    with pytest.raises(ApplicationError) as caught:
        await attempt
    assert caught.value.non_retryable
    (failure,) = caught.value.details
    assert isinstance(failure, Failure)
    assert failure.kind == caught.value.type
    return failure


async def test_an_agent_of_the_shelf_is_frozen_with_its_tools(resolve: Resolve, tmp_path: Path) -> None:
    resolved = await resolve("clerk")
    agent = resolved.agent
    assert (agent.name, agent.prompt, agent.model) == ("clerk", "You keep the books.", "known:file")
    assert [tool.name for tool in agent.tools] == ["add", "drop"]
    assert (agent.scope, agent.policy[0].word) == (("add",), "ask")
    assert agent.workspace == str((tmp_path / "work").resolve())
    assert agent.digest == agent_digest(agent)


async def test_the_run_is_told_what_the_worker_says_of_its_server_and_its_patience(resolve: Resolve) -> None:
    resolved = await resolve("clerk")
    assert resolved.search_attributes
    assert resolved.patience.heartbeat == timedelta(seconds=3)


async def test_the_houses_policy_is_frozen_beside_the_agents_own(resolve: Resolve) -> None:
    agent = (await resolve("clerk")).agent
    assert [rule.tool for rule in agent.policy] == ["add"]
    assert agent.house_policy == HOUSE
    assert agent_digest(agent.model_copy(update={"house_policy": ()})) != agent.digest


async def test_a_rule_that_could_never_do_what_it_says_is_told(resolve: Resolve) -> None:
    rule = ToolPolicy.model_validate({"tool": "add", "when": [{"argument": "a", "match": "regex", "value": "("}]})
    told = await failure(resolve(AgentSpec(policy=(rule,))))
    assert (told.kind, told.attribution) == ("invalid_input", "user")
    assert "regular expression" in told.message


async def test_the_model_of_the_start_counts_before_the_agents_and_the_agents_before_the_workers(
    resolve: Resolve,
) -> None:
    assert (await resolve("clerk", model="known:start")).agent.model == "known:start"
    assert (await resolve("clerk")).agent.model == "known:file"
    assert (await resolve("assistant")).agent.model == "known:default"


async def test_limits_are_laid_over_one_by_one(resolve: Resolve) -> None:
    assert (await resolve("assistant")).agent.limits == Limits(steps=20, feedback_rounds=1)
    assert (await resolve("clerk")).agent.limits == Limits(steps=7, feedback_rounds=1)
    assert (await resolve("clerk", limits=Limits(feedback_rounds=5))).agent.limits == Limits(steps=7, feedback_rounds=5)


async def test_an_agent_given_inline_needs_no_file(resolve: Resolve) -> None:
    agent = (await resolve(AgentSpec(name="mine", prompt="Be brief."))).agent
    assert (agent.name, agent.prompt, agent.scope) == ("mine", "Be brief.", None)
    assert [tool.name for tool in agent.tools] == ["add", "drop"]


async def test_a_workspace_may_be_named_within_the_workers(resolve: Resolve, tmp_path: Path) -> None:
    inside = str((tmp_path / "work" / "sub").resolve())
    assert (await resolve("clerk", workspace="sub")).agent.workspace == inside
    assert (await resolve("clerk", workspace=inside)).agent.workspace == inside


@pytest.mark.parametrize("workspace", ["nowhere", "a\0b", "x" * 10_000, "~nobody-of-that-name/x"])
async def test_a_workspace_that_is_no_folder_is_told(resolve: Resolve, workspace: str) -> None:
    told = await failure(resolve("clerk", workspace=workspace))
    assert (told.kind, told.attribution) == ("invalid_input", "user")
    assert "is no folder on the worker's machine" in told.message
    assert len(told.message) < 1_000


async def test_an_unknown_agent_is_told_with_the_known_ones(resolve: Resolve) -> None:
    told = await failure(resolve("clark"))
    assert told.kind == "unknown_agent"
    assert "assistant, clerk" in told.message


async def test_a_broken_agent_file_is_told_with_its_place(resolve: Resolve) -> None:
    assert "broken.md:" in (await failure(resolve("broken"))).message


async def test_an_unknown_tool_is_told(resolve: Resolve) -> None:
    told = await failure(resolve(AgentSpec(tools=("adds",))))
    assert "'adds'" in told.message
    assert "'add'" in told.message


async def test_an_unknown_model_is_told_before_anything_runs(resolve: Resolve) -> None:
    assert "There is no provider" in (await failure(resolve("clerk", model="other:model"))).message


@pytest.mark.parametrize("inline", [True, False])
async def test_an_output_schema_that_no_answer_can_be_held_to_fails_the_run_at_its_start(
    resolve: Resolve, inline: bool
) -> None:
    schema = {"$ref": "http://example.org/a"}
    attempt = resolve(AgentSpec(output=schema)) if inline else resolve("clerk", output=schema)
    told = await failure(attempt)
    assert told.kind == "invalid_input"
    assert told.message.startswith("The output schema cannot be used: $ref may lead to parts of the schema alone")
