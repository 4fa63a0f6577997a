"""Model calls that go wrong, over HTTP and on a real server: what is asked again, when, and what is told at once."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from temporalio.api.workflow.v1 import PendingActivityInfo

from perdure import RunFailedError, RunRequest
from perdure.contracts.events import Retrying
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.usage import Cost, Usage
from perdure.providers.prices import UNPRICED
from tests.server.stage import Stage, worker_here
from tests.server.vendor import Answer, Vendor, chat, error, vendor
from tests.servers import DEADLINE


@asynccontextmanager
async def asking(
    stage: Stage,
    at: Vendor,
    dev_server: str,
    *,
    protocol: Any = "openai-chat",
    dialect: str = "compatible",
    **settings: Any,
) -> Any:
    """A worker whose models are the vendor's, for the time of the block."""
    async with worker_here(
        dev_server, stage.task_queue, stage.folder, providers=at.endpoint(protocol, dialect), **settings
    ) as worker:
        yield worker


async def begun(stage: Stage, model: str = "vendor:m", **wishes: Any) -> str:
    return await stage.client.start(RunRequest(message="Hi", model=model, workspace=str(stage.folder), **wishes))


async def waiting_call(stage: Stage, run_id: str) -> PendingActivityInfo:
    """The model call of the run, as the server holds it between two attempts."""
    await stage.until_kind(run_id, "retrying")
    described = await stage.temporal.get_workflow_handle(run_id).describe()
    (pending,) = described.raw_description.pending_activities
    return pending


SLACK = 0.001
"""The server keeps the wait to some microseconds."""


def in_a_minute() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)


@pytest.mark.parametrize(
    ("protocol", "answer", "seconds"),
    [
        ("openai-chat", error(429, "slow down", {"retry-after": "77"}), (77, 77)),
        ("openai-chat", error(429, "slow down", {"retry-after": "33.5"}), (33.5, 33.5)),
        ("openai-chat", error(429, "slow down", {"retry-after-ms": "41500"}), (41.5, 41.5)),
        ("openai-chat", error(429, "slow down", {"retry-after": "in a minute"}), (20, 60)),
        ("openai-chat", error(503, "busy", {"retry-after": "25"}), (25, 25)),
        ("anthropic", error(529, "busy", {"retry-after": "26"}, type="overloaded_error"), (26, 26)),
        (
            "gemini",
            error(
                429,
                "slow down",
                code=429,
                status="RESOURCE_EXHAUSTED",
                details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}],
            ),
            (34.4, 34.4),
        ),
    ],
)
async def test_a_provider_is_asked_again_when_it_says(
    stage_without_worker: Stage, dev_server: str, protocol: str, answer: Answer, seconds: tuple[float, float]
) -> None:
    stage = stage_without_worker
    if answer.headers.get("retry-after") == "in a minute":
        answer = error(429, "slow down", {"retry-after": in_a_minute()})
    async with vendor(answer) as at, asking(stage, at, dev_server, protocol=protocol):
        run_id = await begun(stage)
        pending = await waiting_call(stage, run_id)
        retrying = await stage.until_kind(run_id, "retrying")
        assert isinstance(retrying, Retrying)
        assert retrying.until == pending.next_attempt_schedule_time.ToDatetime(UTC)
        waits = pending.current_retry_interval.ToTimedelta().total_seconds()
        planned = pending.next_attempt_schedule_time.ToDatetime() - pending.last_attempt_complete_time.ToDatetime()
        assert seconds[0] - SLACK <= waits <= seconds[1] + SLACK
        assert planned.total_seconds() == pytest.approx(waits, abs=1)
        assert len(at.asked) == 1
        await stage.client.cancel(run_id)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "", "bad_request"),
        (401, "", "authentication"),
        (400, "context_length_exceeded", "context_too_long"),
        (402, "", "quota"),
    ],
)
async def test_what_waiting_does_not_mend_is_asked_once_and_told(
    stage_without_worker: Stage, dev_server: str, status: int, code: str, kind: str
) -> None:
    stage = stage_without_worker
    async with vendor(error(status, "No.", code=code)) as at, asking(stage, at, dev_server):
        run_id = await begun(stage)
        with pytest.raises(RunFailedError) as caught:
            await stage.client.output(run_id)
        assert (caught.value.cause.kind, caught.value.cause.status) == (kind, status)
        assert len(at.asked) == 1


@pytest.mark.parametrize(
    "trouble", [error(503, "busy"), error(529, "busy"), error(429, "slow down", {"retry-after": "0"}), chat("")]
)
async def test_a_passing_trouble_or_an_empty_answer_is_asked_about_again(
    stage_without_worker: Stage, dev_server: str, trouble: Answer
) -> None:
    stage = stage_without_worker
    async with vendor(trouble, chat("Here.")) as at, asking(stage, at, dev_server):
        run_id = await begun(stage)
        assert (await stage.client.output(run_id)).output == "Here."
        assert len(at.asked) == 2
        message = (await stage.client.transcript(run_id))[-1]
        assert isinstance(message, AssistantMessage)
        assert (message.attempt, message.usage.requests) == (2, 2)


@pytest.mark.parametrize("answer", [chat("", finish="length"), chat("", finish="length", reasoning="Let me see")])
async def test_an_answer_that_thinking_used_up_is_asked_for_once_and_told(
    stage_without_worker: Stage, dev_server: str, answer: Answer
) -> None:
    stage = stage_without_worker
    async with vendor(answer) as at, asking(stage, at, dev_server):
        run_id = await begun(stage)
        with pytest.raises(RunFailedError, match="used up its output tokens before it wrote anything"):
            await stage.client.output(run_id)
        assert len(at.asked) == 1
        ended = await stage.until_turn_ended(run_id)
        assert ended.usage == Usage(requests=1, input_tokens=10, output_tokens=5)
        assert ended.cost == UNPRICED


async def test_a_turn_that_fails_sums_up_what_all_its_attempts_took(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    hurried: dict[str, Any] = {"model_deadline": timedelta(seconds=2), "model_attempts": 3}
    answers = (error(429, "slow down", {"retry-after": "0"}), chat(""), Answer(silent=True))
    async with vendor(*answers) as at, asking(stage, at, dev_server, **hurried):
        run_id = await begun(stage)
        with pytest.raises(RunFailedError, match=r"no whole answer came within model_deadline \(2 s\)"):
            await stage.client.output(run_id)
        ended = await stage.until_turn_ended(run_id)
        assert ended.usage == Usage(requests=3, input_tokens=10, output_tokens=5, incomplete=1)
        assert ended.cost == Cost(unpriced=2)


async def test_a_provider_that_hangs_is_left_at_once_when_the_turn_is_interrupted(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    patient: dict[str, Any] = {"heartbeat_timeout": timedelta(minutes=5), "model_deadline": timedelta(minutes=5)}
    async with vendor(Answer(silent=True), chat("Back.")) as at, asking(stage, at, dev_server, **patient):
        run_id = await begun(stage, conversation=True)
        async with asyncio.timeout(DEADLINE):
            await at.reached.wait()
            await stage.client.interrupt(run_id, reason="too slow")
            ended = await stage.until_turn_ended(run_id)
        assert ended.end == "interrupted"
        assert (ended.usage, ended.cost) == (Usage(requests=1, incomplete=1), UNPRICED)
        async with asyncio.timeout(DEADLINE):
            await at.hung_up.wait()
        await stage.client.send(run_id, "Are you there?")
        await stage.until(run_id, lambda event: event.kind == "model_answered" and event.message.text == "Back.")
        await stage.client.close(run_id)


async def test_an_attempt_that_passes_the_deadline_is_ended_and_another_follows(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    deadline = timedelta(seconds=3)
    async with (
        vendor(Answer(silent=True), chat("Late.")) as at,
        asking(stage, at, dev_server, model_deadline=deadline),
    ):
        run_id = await begun(stage)
        assert (await stage.client.output(run_id)).output == "Late."
        assert len(at.asked) == 2
        async with asyncio.timeout(DEADLINE):
            await at.hung_up.wait()


async def test_a_fallback_gets_the_words_and_calls_of_another_model_and_nothing_that_is_only_for_its_maker(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    thinking = chat("I look.", "tool_calls", reasoning="The file first.", calls={"look": {"name": "a"}})
    async with (
        vendor(thinking, error(503, "busy"), error(401, "wrong key"), chat("Done.")) as at,
        asking(stage, at, dev_server, dialect="deepseek"),
    ):
        run_id = await begun(stage, "vendor:first", fallbacks=("vendor:second",))
        assert (await stage.client.output(run_id)).output == "Done."
    assert [asked["model"] for asked in at.asked] == ["first", "first", "first", "second"]
    own, other = at.asked[2]["messages"], at.asked[3]["messages"]
    (kept,) = [message for message in own if message["role"] == "assistant"]
    assert kept["reasoning_content"] == "The file first."
    (given,) = [message for message in other if message["role"] == "assistant"]
    assert "reasoning_content" not in given
    assert (given["content"], given["tool_calls"][0]["function"]["name"]) == ("I look.", "look")
    assert "The file first." not in str(at.asked[3])


async def test_a_model_that_never_answers_gives_way_to_the_next_one_after_its_deadlines(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    hurried: dict[str, Any] = {"model_deadline": timedelta(seconds=3), "model_attempts": 1}
    async with vendor(Answer(silent=True), chat("Here.")) as at, asking(stage, at, dev_server, **hurried):
        run_id = await begun(stage, "vendor:first", fallbacks=("vendor:second",))
        assert (await stage.client.output(run_id)).output == "Here."
        message = (await stage.client.transcript(run_id))[-1]
        assert isinstance(message, AssistantMessage)
        assert (message.model, message.attempt, message.usage.requests) == ("vendor:second", 2, 2)
    assert [asked["model"] for asked in at.asked] == ["first", "second"]
