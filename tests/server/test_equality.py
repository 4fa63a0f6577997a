"""The same script in this process and on Temporal: equal transcripts, ids and settlements included."""

from __future__ import annotations

from typing import Any

import pytest

from perdure import RunRequest
from perdure.activities.builtin import builtin_tools
from perdure.activities.toolbox import Toolbox, load_tools
from perdure.contracts.messages import Message
from perdure.contracts.requests import Approve, Deny
from perdure.providers.scripted import Script
from perdure.testing.engine import run_in_process
from perdure.testing.orders import when_waiting
from perdure.testing.script import asks, asks_badly, fails, says, script, thinks, together, unless_forced
from tests.server.stage import TOOLS, Stage

GREEDY = unless_forced(asks("look", name="more"), says("That is all."))

SCRIPTS: dict[str, tuple[Script, dict[str, Any]]] = {
    "text alone": (script(says("Hello.")), {}),
    "reasoning, text and calls": (
        script(together(thinks("Hm."), says("I look."), asks("look", name="a"), asks("look", name="b")), says("Done.")),
        {},
    ),
    "a tool that fails": (script(asks("stumble", how="badly"), asks("stumble", how="kindly"), says("Never mind.")), {}),
    "an unknown tool, a bad and a cut argument": (
        script(
            together(asks("nothing"), asks_badly("look", '{"name": 7}'), asks_badly("look", '{"name": "a')),
            says("I see."),
        ),
        {},
    ),
    "the bare name of a tool": (script(asks("tide"), says("High.")), {}),
    "a step limit": (script(GREEDY, repeat_last=True), {"limits": {"steps": 3}}),
    "an attempt that fails": (script(fails("overloaded", after=1), says("one ", "two")), {}),
    "no human": (script(asks("publish", text="x"), says("I may not.")), {"humans": "none"}),
    "invalid calls without end": (script(asks("nothing"), repeat_last=True), {"limits": {"feedback_rounds": 2}}),
}


def served() -> Toolbox:
    """The tools that the stage's worker serves."""
    return load_tools((TOOLS,), builtin=builtin_tools())


def told(messages: tuple[Message, ...]) -> str:
    """A transcript without the name of the model, which is a file of the test's own."""
    return "\n".join(message.model_dump_json(exclude={"model"}) for message in messages)


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_script_gives_equal_transcripts_in_process_and_on_temporal(stage: Stage, name: str) -> None:
    played, wishes = SCRIPTS[name]
    run_id = await stage.start(played, **wishes)
    last = [event async for event in stage.client.events(run_id, live=False)][-1]
    request = RunRequest(message="Do it.", workspace=str(stage.folder), **wishes)
    here = await run_in_process(request, script=played, tools=served())
    assert told(await stage.client.transcript(run_id)) == told(here.messages)
    assert last.kind == "run_closed"
    assert last.status == here.status


@pytest.mark.parametrize(
    "order", [Approve(call_id="t1s1c2", actor="ada"), Deny(call_id="t1s1c2", actor="ada", reason="not now")]
)
async def test_a_response_gives_equal_transcripts(stage: Stage, order: Approve | Deny) -> None:
    played = script(together(asks("look", name="a"), asks("publish", text="x")), says("Done."))
    run_id = await stage.start(played)
    await stage.until(run_id, lambda event: event.kind == "call_ended")
    await stage.client.approve(run_id, actor="ada") if order.kind == "approve" else await stage.client.deny(
        run_id, actor="ada", reason="not now"
    )
    await stage.client.output(run_id)
    here = await run_in_process(
        RunRequest(message="Do it.", workspace=str(stage.folder)),
        script=played,
        tools=served(),
        orders=[when_waiting(order)],
    )
    assert told(await stage.client.transcript(run_id)) == told(here.messages)
