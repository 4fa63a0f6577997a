"""Authority on a real server: policies of files and settings, grants, approvers, deadlines, resolvers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure import AgentSpec, PerdureError, ToolPolicy
from perdure.contracts.agent import ApprovalRule, ArgumentRule, Waiting
from perdure.contracts.approvals import CallVerdict
from perdure.contracts.errors import OrderRefusedError
from perdure.contracts.requests import Remember
from perdure.testing.script import asks, asks_badly, says, script, together
from tests.server.stage import Stage, worker_here
from tests.server.tools import effects

DESK = Path(__file__).parent / "desk.py"
RESOLVER = f"{DESK}:office_hours"

Working = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
def working(stage_without_worker: Stage, dev_server: str) -> Working:
    """``async with working(**settings):`` a worker at the editor's desk, with the agents of the test's folder."""
    stage = stage_without_worker

    @asynccontextmanager
    async def work(**settings: Any) -> AsyncIterator[None]:
        given = {"tools": tuple(f"{DESK}:{name}" for name in ("search", "read_page", "draft", "publish"))}
        agents = (stage.folder / "agents",)
        async with worker_here(dev_server, stage.task_queue, stage.folder, **{**given, "agents": agents, **settings}):
            yield
            await stage.compare_histories_with_runs()

    return work


async def verdicts(stage: Stage, run_id: str) -> list[CallVerdict]:
    """All verdicts of an ended run, in order."""
    return [
        verdict
        async for event in stage.client.events(run_id)
        if event.kind == "calls_reviewed"
        for verdict in event.verdicts
    ]


async def rules(stage: Stage, run_id: str) -> list[tuple[str, str]]:
    return [(one.verdict.decision, one.verdict.rule) for one in await verdicts(stage, run_id)]


async def asked(stage: Stage, run_id: str, number: int) -> None:
    """Wait until the run has opened that many requests."""
    seen = 0

    def opened(event: Any) -> bool:
        nonlocal seen
        seen += event.kind == "request_opened"
        return bool(seen >= number)

    await stage.until(run_id, opened)


EDITOR = """---
tools: [search, read_page, draft, publish]
policy:
  publish: always_ask
---
You write briefings.
"""


async def test_a_briefing_is_researched_freely_and_published_only_after_a_question(
    stage_without_worker: Stage, working: Working
) -> None:
    stage = stage_without_worker
    (stage.folder / "agents").mkdir()
    (stage.folder / "agents" / "editor.md").write_text(EDITOR)
    briefing = script(
        asks("search", topic="tea"),
        together(asks("search", topic="cups"), asks("read_page", url="https://example.org/tea")),
        asks("draft", text="Tea"),
        asks("publish", text="Tea"),
        says("Published."),
    )
    async with working():
        run_id = await stage.start(briefing, agent="editor", user="sam")
        await asked(stage, run_id, 1)
        await stage.client.approve(run_id, "t1s1c1", remember=Remember(when=()), actor="ada")
        await asked(stage, run_id, 2)
        await stage.until(run_id, lambda event: event.kind == "call_ended" and event.result.call_id == "t1s2c1")
        assert effects(stage.folder) == ["search tea", "search cups"]
        await stage.client.approve(run_id, "t1s2c2", remember=Remember(when=()), actor="ada")
        await asked(stage, run_id, 3)
        assert effects(stage.folder)[2:] == ["read https://example.org/tea"]
        await stage.client.approve(run_id, "t1s3c1", actor="ada")
        await asked(stage, run_id, 4)
        assert effects(stage.folder)[3:] == ["draft Tea"]
        with pytest.raises(OrderRefusedError, match="cannot be remembered"):
            await stage.client.approve(run_id, "t1s4c1", remember=Remember(when=()), actor="ada")
        await stage.client.approve(run_id, "t1s4c1", actor="ada")
        assert (await stage.client.output(run_id)).output == "Published."
        assert effects(stage.folder)[4:] == ["publish Tea"]
        assert await rules(stage, run_id) == [
            ("ask", "effect"),
            ("allow", "approved"),
            ("allow", "grant"),
            ("ask", "effect"),
            ("allow", "approved"),
            ("ask", "effect"),
            ("allow", "approved"),
            ("ask", "policy"),
            ("allow", "approved"),
        ]


TWO_OF_THREE = """---
policy:
  publish:
    - when: {text: {prefix: "draft:"}}
      then: deny
    - then: ask
      approvers: [ada, bob, sam]
      not_starter: true
      needed: 2
---
You publish.
"""


async def test_an_agent_file_says_who_may_approve_what(stage_without_worker: Stage, working: Working) -> None:
    stage = stage_without_worker
    (stage.folder / "agents").mkdir()
    file = stage.folder / "agents" / "press.md"
    file.write_text(TWO_OF_THREE)
    both = together(asks("publish", text="draft: x"), asks("publish", text="news"))
    async with working():
        run_id = await stage.start(script(both, says("Done.")), agent="press", user="sam")
        await asked(stage, run_id, 1)
        file.write_text("---\npolicy: {publish: allow}\n---\nYou publish.\n")
        (request,) = (await stage.client.open_requests(run_id)).requests
        assert [call.approval for call in request.calls] == [
            ApprovalRule(approvers=("ada", "bob", "sam"), not_starter=True, needed=2)
        ]
        for actor, why in (("", "Say who approves"), ("eve", "may not approve"), ("sam", "started this run")):
            with pytest.raises(OrderRefusedError, match=why):
                await stage.client.approve(run_id, actor=actor)
        await stage.client.approve(run_id, actor="ada")
        assert effects(stage.folder) == []
        await stage.client.approve(run_id, actor="bob")
        await stage.client.output(run_id)
        assert effects(stage.folder) == ["publish news"]
        assert [result.status for result in await stage.results(run_id)] == ["denied", "ok"]


async def test_the_houses_policy_holds_for_every_agent_and_grants_do_not_lift_it(
    stage_without_worker: Stage, working: Working
) -> None:
    stage = stage_without_worker
    house = (ToolPolicy(tool="draft", word="deny"), ToolPolicy(tool="pub*", word="always_ask"))
    free = AgentSpec(policy=(ToolPolicy(tool="*", word="allow"),))
    both = together(asks("draft", text="x"), asks("publish", text="x"), asks("search", topic="x"))
    async with working(policy=house):
        run_id = await stage.start(script(both, says("Done.")), agent=free, mode="auto", humans="none")
        await stage.client.output(run_id)
        assert await rules(stage, run_id) == [("deny", "policy"), ("deny", "no_human"), ("allow", "policy")]
        assert effects(stage.folder) == ["search x"]


async def test_an_edited_call_is_judged_as_what_it_has_become(stage_without_worker: Stage, working: Working) -> None:
    stage = stage_without_worker
    large = ArgumentRule(argument="text", match="prefix", value="large")
    agent = AgentSpec(
        policy=(
            ToolPolicy(tool="draft", when=(large,), word="always_ask"),
            ToolPolicy(tool="draft", when=(ArgumentRule(argument="text", value="no"),), word="deny"),
            ToolPolicy(tool="draft", word="ask"),
        )
    )
    both = together(asks("draft", text="small"), asks("draft", text="tiny"))
    async with working():
        run_id = await stage.start(script(both, says("Done.")), agent=agent)
        await asked(stage, run_id, 1)
        await stage.client.approve(run_id, "t1s1c1", arguments={"text": "large"}, actor="ada")
        await asked(stage, run_id, 2)
        await stage.client.approve(run_id, "t1s1c2", arguments={"text": "no"}, actor="ada")
        await stage.client.approve(run_id, "t1s1c1", actor="ada")
        await stage.client.output(run_id)
        assert effects(stage.folder) == ["draft large"]
        said = [verdict for verdict in await verdicts(stage, run_id) if verdict.call_id == "t1s1c1"]
        assert [(one.verdict.decision, one.verdict.firm, one.round) for one in said] == [
            ("ask", False, 1),
            ("ask", True, 2),
            ("allow", False, 3),
        ]
        assert "stricter than what was shown" in said[1].verdict.reason
        assert [result.status for result in await stage.results(run_id)] == ["ok", "denied"]


async def test_at_the_deadline_the_default_approves_no_more_than_it_may(
    stage_without_worker: Stage, working: Working
) -> None:
    stage = stage_without_worker
    agent = AgentSpec(
        policy=(ToolPolicy(tool="draft", word="ask"), ToolPolicy(tool="publish", word="always_ask")),
        waiting=Waiting(deadline=timedelta(seconds=1), default="approve"),
    )
    both = together(asks("draft", text="x"), asks("publish", text="x"))
    async with working():
        run_id = await stage.start(script(both, says("Done.")), agent=agent)
        await stage.client.output(run_id)
        assert effects(stage.folder) == ["draft x"]
        assert await rules(stage, run_id) == [("ask", "policy"), ("ask", "policy"), ("allow", "approved")]
        denied = (await stage.results(run_id))[1]
        assert (denied.status, "before the deadline" in denied.text) == ("denied", True)
        with pytest.raises(OrderRefusedError):
            await stage.client.approve(run_id, "t1s1c2")


async def test_a_resolver_decides_and_one_that_fails_asks_in_every_mode(
    stage_without_worker: Stage, working: Working
) -> None:
    stage = stage_without_worker
    agent = AgentSpec(policy=(ToolPolicy(tool="draft", resolver=RESOLVER),))
    both = together(asks("draft", text="a secret"), asks("draft", text="x"))
    async with working(resolvers=(RESOLVER,)):
        run_id = await stage.start(script(both, says("Done.")), agent=agent, mode="auto")
        await asked(stage, run_id, 1)
        (request,) = (await stage.client.open_requests(run_id)).requests
        (call,) = request.calls
        assert (call.call_id, call.verdict.rule) == ("t1s1c2", "error")
        assert "it raised LookupError at desk.py:" in call.verdict.reason
        await stage.client.approve(run_id)
        await stage.client.output(run_id)
        assert effects(stage.folder) == ["draft x"]


async def test_a_tool_that_is_served_no_more_is_never_run_though_it_was_approved(
    stage_without_worker: Stage, working: Working
) -> None:
    stage = stage_without_worker
    async with working():
        run_id = await stage.start(script(asks("publish", text="x"), says("Then not.")))
        await asked(stage, run_id, 1)
    async with working(tools=(f"{DESK}:search",)):
        await stage.client.approve(run_id, "t1s1c1")
        assert (await stage.client.output(run_id)).output == "Then not."
        assert [result.status for result in await stage.results(run_id)] == ["unavailable"]
        assert effects(stage.folder) == []


async def test_calls_that_mean_nothing_are_answered_and_end_the_turn_when_they_do_not_stop(
    stage_without_worker: Stage, working: Working
) -> None:
    stage = stage_without_worker
    bad = together(asks("serach", topic="x"), asks_badly("search", '{"topic": "t'), asks_badly("search", "topic: t"))
    worse = asks("search", subject="t")
    async with working():
        run_id = await stage.start(script(bad, worse, repeat_last=True), agent=AgentSpec(), mode="auto")
        with pytest.raises(PerdureError, match="invalid_calls"):
            await stage.client.output(run_id)
        said = await stage.results(run_id)
        assert {result.status for result in said} == {"invalid"}
        texts = [result.text for result in said]
        assert 'Did you mean "search"?' in texts[0]
        assert "are cut off" in texts[1]
        assert "are not JSON" in texts[2]
        assert "$.topic: is missing" in texts[3]
        assert effects(stage.folder) == []
