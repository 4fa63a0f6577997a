from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from perdure.activities.transcripts import RunQuery, TranscriptCache
from perdure.contracts.digests import digest_of
from perdure.contracts.errors import TranscriptUnavailableError
from perdure.contracts.messages import AssistantMessage, TextPart
from perdure.contracts.names import TRANSCRIPT
from perdure.contracts.state import TranscriptPage
from tests.activities.runs import AGENT, Run, digest_after, said

REPLY = AssistantMessage(message_id="t1s1", parts=(TextPart(text="Yes."),), model="scripted:x")
FIVE = tuple(said(number) for number in range(1, 6))


async def test_a_transcript_is_fetched_page_by_page() -> None:
    run = Run(FIVE)
    assert await TranscriptCache(run).fetch(run.call()) == (AGENT, FIVE)
    assert run.asked == [0, 2, 4]


async def test_a_transcript_that_is_held_is_not_asked_for_again() -> None:
    run = Run(FIVE)
    cache = TranscriptCache(run)
    await cache.fetch(run.call())
    run.asked.clear()
    assert await cache.fetch(run.call()) == (AGENT, FIVE)
    assert run.asked == []


async def test_only_the_missing_tail_is_fetched() -> None:
    run = Run(FIVE[:3])
    cache = TranscriptCache(run)
    await cache.fetch(run.call())
    run.messages, run.asked = FIVE, []
    assert await cache.fetch(run.call()) == (AGENT, FIVE)
    assert run.asked == [3]


async def test_a_reply_that_was_appended_is_not_asked_for() -> None:
    run = Run(FIVE[:1])
    cache = TranscriptCache(run)
    call = run.call()
    await cache.fetch(call)
    cache.append(call, REPLY)
    run.messages, run.asked = (FIVE[0], REPLY, said(2)), []
    assert (await cache.fetch(run.call()))[1] == run.messages
    assert run.asked == [2]


async def test_a_reply_that_the_run_never_took_is_dropped() -> None:
    run = Run(FIVE[:1])
    cache = TranscriptCache(run)
    call = run.call()
    await cache.fetch(call)
    cache.append(call, REPLY)
    other = REPLY.model_copy(update={"parts": (TextPart(text="No."),)})
    run.messages, run.asked = (FIVE[0], other, said(2)), []
    assert (await cache.fetch(run.call()))[1] == run.messages
    assert run.asked == [2, 0, 2]


async def test_an_attempt_after_a_reply_was_lost_gets_the_transcript_without_it() -> None:
    run = Run(FIVE[:1])
    cache = TranscriptCache(run)
    await cache.fetch(run.call())
    cache.append(run.call(), REPLY)
    assert (await cache.fetch(run.call()))[1] == FIVE[:1]
    cache.append(run.call(), REPLY)
    run.messages = (FIVE[0], REPLY)
    assert (await cache.fetch(run.call()))[1] == (FIVE[0], REPLY)


async def test_messages_that_came_after_the_call_are_left_out() -> None:
    run = Run(FIVE, page_size=10)
    call = run.call().model_copy(update={"revision": 2, "digest": digest_after(*FIVE[:2])})
    assert (await TranscriptCache(run).fetch(call))[1] == FIVE[:2]


async def test_another_digest_than_the_calls_is_an_error_that_may_heal() -> None:
    run = Run(FIVE)
    call = run.call().model_copy(update={"digest": digest_of("another")})
    cache = TranscriptCache(run)
    with pytest.raises(TranscriptUnavailableError, match="digest at revision 5") as caught:
        await cache.fetch(call)
    assert caught.value.failure().retryable
    assert await cache.fetch(run.call()) == (AGENT, FIVE)


async def test_a_run_that_answers_too_few_messages_is_an_error_and_no_endless_loop() -> None:
    run = Run(FIVE)
    call = run.call()
    run.messages = FIVE[:2]
    with pytest.raises(TranscriptUnavailableError, match="ends at revision 2"):
        await TranscriptCache(run).fetch(call)


async def test_a_first_page_without_the_agent_is_an_error() -> None:
    run = Run(FIVE, agent=None)
    with pytest.raises(TranscriptUnavailableError):
        await TranscriptCache(run).fetch(run.call())


async def test_a_failing_query_leaves_what_was_held() -> None:
    run = Run(FIVE[:3])
    cache = TranscriptCache(run)
    await cache.fetch(run.call())
    run.messages, run.broken = FIVE, True
    with pytest.raises(TranscriptUnavailableError, match="no worker answers"):
        await cache.fetch(run.call())
    run.broken, run.asked = False, []
    assert (await cache.fetch(run.call()))[1] == FIVE
    assert run.asked == [3]


async def test_the_runs_used_longest_ago_leave_when_memory_is_full() -> None:
    runs = [Run((said(1, "x" * 1_000),), run_id=f"r{number}") for number in range(3)]

    class Router:
        async def page(self, call: Any, start: int) -> TranscriptPage:
            return await runs[int(call.run_id[1:])].page(call, start)

    cache = TranscriptCache(Router(), max_bytes=2_500)
    await cache.fetch(runs[0].call())
    await cache.fetch(runs[1].call())
    await cache.fetch(runs[0].call())
    await cache.fetch(runs[2].call())
    assert cache.size <= 2_500
    for run in runs:
        run.asked.clear()
    await cache.fetch(runs[0].call())
    await cache.fetch(runs[2].call())
    assert [run.asked for run in runs] == [[], [], []]
    await cache.fetch(runs[1].call())
    assert runs[1].asked == [0]


async def test_a_transcript_larger_than_the_memory_is_given_and_not_held() -> None:
    run = Run((said(1, "x" * 1_000),))
    cache = TranscriptCache(run, max_bytes=100)
    assert (await cache.fetch(run.call()))[1] == run.messages
    assert cache.size == 0


@workflow.defn(name="PageServer", sandboxed=False)
class PageServer:
    """A run that does nothing but answer for its transcript."""

    @workflow.run
    async def run(self) -> None:
        await workflow.wait_condition(lambda: False)

    @workflow.query(name=TRANSCRIPT)
    def transcript(self, *inputs: Any) -> TranscriptPage:
        start = inputs[0]["start"]
        return TranscriptPage(
            run_id="r1",
            start=start,
            revision=5,
            digest=digest_after(*FIVE[: start + 2]),
            messages=FIVE[start : start + 2],
            agent=AGENT if start == 0 else None,
        )


async def test_a_run_on_a_server_answers_by_query(temporal_client: Client, task_queue: str) -> None:
    async with Worker(
        temporal_client,
        task_queue=task_queue,
        workflows=[PageServer],
        workflow_runner=UnsandboxedWorkflowRunner(),
    ):
        handle = await temporal_client.start_workflow(PageServer.run, id=task_queue, task_queue=task_queue)
        call = (
            Run(FIVE)
            .call()
            .model_copy(update={"run_id": handle.id, "execution_id": handle.first_execution_run_id or ""})
        )
        assert await TranscriptCache(RunQuery(temporal_client)).fetch(call) == (AGENT, FIVE)


async def test_a_run_that_nobody_knows_or_serves_is_an_error_that_may_heal(
    temporal_client: Client, task_queue: str
) -> None:
    query = RunQuery(temporal_client, rpc_timeout=timedelta(milliseconds=300))
    call = Run(FIVE).call().model_copy(update={"run_id": task_queue, "execution_id": ""})
    with pytest.raises(TranscriptUnavailableError, match=task_queue):
        await query.page(call, 0)
    await temporal_client.start_workflow(PageServer.run, id=task_queue, task_queue=task_queue)
    with pytest.raises(TranscriptUnavailableError, match=task_queue):
        await query.page(call, 0)
