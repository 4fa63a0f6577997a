"""Durability: workers are killed with kill -9, and nothing is lost, asked twice or run twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.worker import Worker

from perdure import RunFailedError
from perdure.contracts.activities import AgentQuery, JudgeRequest, ModelCall, ResolvedAgent
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.events import AnyEvent, TextArrived
from perdure.contracts.messages import AssistantMessage, CallPart
from perdure.contracts.names import AUTHORIZE, CALL_MODEL, RESOLVE_AGENT
from perdure.contracts.tools import ToolSpec
from perdure.providers.gate import Gate
from perdure.providers.scripted import Script
from perdure.testing.script import asks, held, says, script, slowly
from perdure.worker.worker import sandbox
from perdure.workflows.run import AgentRun
from tests.server.stage import Stage, Workers, worker_here
from tests.server.tools import effects
from tests.servers import recorded


async def attempts(stage: Stage, run_id: str, activity_id: str) -> list[int]:
    """The attempt numbers with which an activity of that id was started, as the history tells."""
    events = (await stage.temporal.get_workflow_handle(run_id).fetch_history()).events
    scheduled = {
        event.event_id for event in events if event.activity_task_scheduled_event_attributes.activity_id == activity_id
    }
    return [
        event.activity_task_started_event_attributes.attempt
        for event in events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED
        and event.activity_task_started_event_attributes.scheduled_event_id in scheduled
    ]


async def test_a_tool_that_is_not_idempotent_is_not_run_again_after_kill_9(lone: Stage, worker: Workers) -> None:
    first = worker()
    run_id = await lone.start(script(asks("push_once", name="x", gate="gate"), says("Who knows.")))
    await Gate(lone.folder / "pushed").wait()
    first.kill()
    worker()
    assert (await lone.client.output(run_id)).output == "Who knows."
    (result,) = await lone.results(run_id)
    assert result.status == "unknown"
    assert "Nobody knows" in result.text
    assert effects(lone.folder) == ["push x"]


async def test_an_idempotent_tool_is_run_again_after_kill_9_and_gives_one_result(lone: Stage, worker: Workers) -> None:
    first = worker()
    run_id = await lone.start(script(asks("push_again", name="x", gate="gate"), says("Done.")))
    await Gate(lone.folder / "pushed").wait()
    first.kill()
    Gate(lone.folder / "gate").open()
    worker()
    assert (await lone.client.output(run_id)).output == "Done."
    (result,) = await lone.results(run_id)
    assert (result.status, result.text) == ("ok", "x pushed")
    assert effects(lone.folder) == ["push x", "push x"]


async def test_a_model_call_that_was_killed_is_asked_again_and_the_watcher_sees_a_restart(
    lone: Stage, worker: Workers
) -> None:
    first = worker()
    run_id = await lone.start(script(held(says("once ", "upon ", "a time"), lone.folder / "gate", after=2)))
    events: list[AnyEvent] = []
    killed = False
    async for event in lone.client.events(run_id):
        events.append(event)
        if isinstance(event, TextArrived) and not killed:
            killed = True
            first.kill()
            worker()
        if isinstance(event, TextArrived) and event.attempt == 2:
            Gate(lone.folder / "gate").open()
    pieces = [event for event in events if isinstance(event, TextArrived)]
    assert [piece.attempt for piece in pieces] == sorted(piece.attempt for piece in pieces)
    second = [piece for piece in pieces if piece.attempt == 2]
    assert second[0].offset == 0
    assert "".join(piece.text for piece in second) == "once upon a time"
    ids = [message.message_id for message in await lone.client.transcript(run_id)]
    assert ids == ["u1", "t1s1"]


async def test_a_recorded_answer_is_not_asked_again_and_a_request_survives_the_worker(
    lone: Stage, worker: Workers
) -> None:
    first = worker()
    run_id = await lone.start(script(asks("publish", text="news"), says("Done.")))
    opened = await lone.until_kind(run_id, "request_opened")
    first.kill()
    assert (await lone.client.history(run_id)).state is not None
    worker()
    asked = await lone.client.open_requests(run_id)
    assert opened.kind == "request_opened"
    (still,) = asked.requests
    assert still == opened.request
    assert effects(lone.folder) == []
    await lone.client.approve(run_id)
    await lone.client.output(run_id)
    assert await attempts(lone, run_id, "t1s1") == [1]
    assert effects(lone.folder) == ["publish news"]


async def test_what_is_sent_while_no_worker_runs_is_applied_when_one_comes(lone: Stage, worker: Workers) -> None:
    first = worker()
    run_id = await lone.start(script(asks("publish", text="news"), says("Done.")))
    await lone.until_kind(run_id, "request_opened")
    first.kill()
    handle = lone.temporal.get_workflow_handle(run_id)
    await handle.signal("send", {"message": "By the way."})
    await handle.signal("approve", {"call_id": "t1s1c1"})
    worker()
    assert (await lone.client.output(run_id)).output == "Done."
    ids = [message.message_id for message in await lone.client.transcript(run_id)]
    assert ids == ["u1", "t1s1", "t1s1c1r", "u2", "t1s2"]


async def test_an_interrupt_of_a_call_whose_worker_died_keeps_what_its_last_heartbeat_said(
    lone: Stage, worker: Workers
) -> None:
    first = worker()
    stuck = held(says("I begin", " and never end"), lone.folder / "never", after=1)
    run_id = await lone.start(script(stuck, says("Next.")), conversation=True)
    await lone.until(run_id, lambda event: event.kind == "text_arrived")
    first.kill()
    await lone.temporal.get_workflow_handle(run_id).signal("interrupt", {"reason": "gone"})
    worker()
    ended = await lone.until_turn_ended(run_id)
    assert (ended.end, ended.output) == ("interrupted", "I begin")
    await lone.client.cancel(run_id)


def five_steps(stage: Stage) -> Script:
    """Five steps of one tool each, the third held open, the fourth to be approved."""
    return script(
        asks("look", name="a"),
        asks("look", name="b"),
        asks("wait_then_look", name="c", gate="gate"),
        asks("publish", text="d"),
        asks("look", name="e"),
        says("All done."),
    )


async def test_pull_the_plug(lone: Stage, worker: Workers) -> None:
    """Five tool steps and an approval; two workers killed at different places: each tool took effect once."""
    first = worker()
    run_id = await lone.start(five_steps(lone))
    await lone.until(run_id, lambda event: event.kind == "call_started" and event.call.tool == "wait_then_look")
    first.kill()
    Gate(lone.folder / "gate").open()
    second = worker()
    await lone.until_kind(run_id, "request_opened")
    second.kill()
    worker()
    await lone.client.approve(run_id)
    assert (await lone.client.output(run_id)).output == "All done."
    assert effects(lone.folder) == ["look a", "look b", "look c", "publish d", "look e"]
    disturbed = await lone.client.transcript(run_id)

    calm = await lone.start(five_steps(lone))
    await lone.until_kind(calm, "request_opened")
    await lone.client.approve(calm)
    await lone.client.output(calm)
    undisturbed = await lone.client.transcript(calm)
    told = [[m.model_dump(exclude={"model"}) for m in messages] for messages in (disturbed, undisturbed)]
    assert told[0] == told[1]


async def test_a_model_that_is_silent_for_longer_than_the_heartbeat_timeout_is_not_killed(
    lone: Stage, dev_server: str
) -> None:
    timeout = timedelta(seconds=3)
    async with worker_here(dev_server, lone.task_queue, lone.folder, heartbeat_timeout=timeout):
        run_id = await lone.start(script(slowly(says("Well."), timedelta(seconds=4))))
        assert (await lone.client.output(run_id)).output == "Well."
        assert await attempts(lone, run_id, "t1s1") == [1]


@asynccontextmanager
async def strange_worker(
    stage: Stage, *, answer: Any, verdicts: Any = None, returned: Any = None
) -> AsyncIterator[None]:
    """A worker whose activities give what ours never would, as one of another release might."""

    @activity.defn(name=RESOLVE_AGENT)
    async def resolve_agent(query: AgentQuery) -> ResolvedAgent:
        tools = (ToolSpec(name="thing", effect="read"),)
        return ResolvedAgent(agent=FrozenAgent(name="strange", model="strange:model", tools=tools))

    @activity.defn(name=CALL_MODEL)
    async def call_model(call: ModelCall) -> Any:
        return answer(call)

    @activity.defn(name=AUTHORIZE)
    async def authorize(request: JudgeRequest) -> Any:
        return verdicts

    @activity.defn(name="thing")
    async def thing(arguments: Any, context: Any) -> Any:
        return returned

    async with Worker(
        stage.temporal,
        task_queue=stage.task_queue,
        workflows=[AgentRun],
        activities=[resolve_agent, call_model, authorize, thing],
        workflow_runner=sandbox(),
    ):
        yield


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda call: {"nonsense": 1}, "cannot be read as AssistantMessage"),
        (lambda call: None, "cannot be read as AssistantMessage"),
        (lambda call: AssistantMessage(message_id="t9s9", parts=(), model=call.model), "returned the message t9s9"),
    ],
)
async def test_an_answer_that_cannot_be_used_fails_the_run_with_the_cause(lone: Stage, answer: Any, told: str) -> None:
    async with strange_worker(lone, answer=answer):
        run_id = await lone.client.start("Hello")
        with pytest.raises(RunFailedError, match=told):
            await lone.client.output(run_id)
        last = [event async for event in lone.client.events(run_id)][-1]
        assert last.kind == "run_closed"
        assert last.failure is not None
        assert told in last.failure.message


def asks_once(call: ModelCall) -> AssistantMessage:
    """One call of `thing`, then text."""
    if call.step > 1:
        return AssistantMessage(message_id=call.message_id, parts=(), model=call.model)
    part = CallPart(call_id=f"{call.message_id}c1", tool="thing")
    return AssistantMessage(message_id=call.message_id, parts=(part,), model=call.model)


@pytest.mark.parametrize("verdicts", [None, {"nonsense": 1}, {"verdicts": []}])
async def test_a_call_without_a_readable_verdict_asks_a_human(lone: Stage, verdicts: Any) -> None:
    async with strange_worker(lone, answer=asks_once, verdicts=verdicts):
        run_id = await lone.client.start("Hello")
        opened = await lone.until_kind(run_id, "request_opened")
        assert opened.kind == "request_opened"
        assert (opened.request.calls[0].verdict.rule, opened.request.calls[0].verdict.firm) == ("error", True)
        await lone.client.cancel(run_id)
        await lone.client.output(run_id)


@pytest.mark.parametrize("returned", [7, None, "text", {"text": "t", "more": 1}, {"temperature": 20}, {"text": 3}])
async def test_any_json_of_a_foreign_worker_is_a_result(lone: Stage, returned: Any) -> None:
    allow = {"verdicts": [{"call_id": "t1s1c1", "verdict": {"decision": "allow", "rule": "effect"}}]}
    async with strange_worker(lone, answer=asks_once, verdicts=allow, returned=returned):
        run_id = await lone.client.start("Hello")
        await lone.client.output(run_id)
        (result,) = await lone.results(run_id)
        assert result.status == "ok"
        assert result.data == returned
        assert result.text == (returned if isinstance(returned, str) else json.dumps(returned))


async def test_no_key_or_header_stands_in_the_history(lone: Stage, dev_server: str) -> None:
    canary = "sk-canary-0123456789abcdef"
    seen: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.append(head)
        headers = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
        await reader.readexactly(int(headers["content-length"]))
        bad = len(seen) == 1
        body = json.dumps({"error": {"message": f"bad key {canary}", "code": "server_error"}}) if bad else reply()
        status, kind = ("500 Error", "application/json") if bad else ("200 OK", "text/event-stream")
        writer.write(
            f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
            f"x-echo: {canary}\r\nconnection: close\r\n\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    def reply() -> str:
        chunk = {"id": "c", "choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}
        return f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    endpoint = {"base_url": f"http://127.0.0.1:{port}/v1", "key_variable": "CANARY_KEY"}
    try:
        async with worker_here(
            dev_server,
            lone.task_queue,
            lone.folder,
            environ={"CANARY_KEY": canary},
            providers={"local": endpoint},
            model="local:any",
        ):
            run_id = await lone.client.start("Hello")
            assert (await lone.client.output(run_id)).output == "Hello."
    finally:
        server.close()
    assert any(canary in head for head in seen), "the provider never got the key: the test shows nothing"
    history = await recorded(lone.temporal, run_id)
    assert b"bad key" in history, "the refusal is not recorded: the test shows nothing"
    assert canary.encode() not in history
