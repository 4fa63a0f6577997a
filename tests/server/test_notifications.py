"""Notifications of runs on a real server: told once for each stage, whatever becomes of the hook."""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes

from perdure.contracts.agent import AgentSpec, Waiting
from perdure.contracts.names import NOTIFY
from perdure.contracts.requests import RunRequest
from perdure.testing.script import asks, says, script
from perdure.workflows.executors import NOTIFY_ATTEMPTS
from tests.server.hearing import receiving
from tests.server.stage import TOOLS, Stage, worker_here
from tests.server.tools import effects
from tests.servers import StartWorker, eventually, recorded, unique

CANARY = "canary-83b1d0f4"
REMINDED = Waiting(deadline=timedelta(hours=1), remind=timedelta(hours=1) - timedelta(seconds=1))
"""People are reminded one second after they were asked."""


async def publishing(stage: Stage, waiting: Waiting | None = None, **wishes: Any) -> str:
    """A run that waits for the approval of one call."""
    agent = AgentSpec(name="clerk", waiting=waiting or Waiting())
    run_id = await stage.start(script(asks("publish", text="news"), says("Done.")), agent=agent, **wishes)
    await stage.until_kind(run_id, "request_opened")
    return run_id


async def scheduled(stage: Stage, run_id: str) -> list[str]:
    """The types of the activities that the run has started."""
    return [started.activity_type.name for started in await activities(stage, run_id)]


async def attempts_allowed(stage: Stage, run_id: str) -> set[int]:
    """How often the run's notifications are tried at most."""
    return {
        started.retry_policy.maximum_attempts
        for started in await activities(stage, run_id)
        if started.activity_type.name == NOTIFY
    }


async def activities(stage: Stage, run_id: str) -> list[ActivityTaskScheduledEventAttributes]:
    """The activities that the run has started."""
    history = await stage.temporal.get_workflow_handle(run_id).fetch_history()
    return [
        event.activity_task_scheduled_event_attributes
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    ]


async def test_opened_due_and_closed_are_told_once_for_each_request_and_question(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    played = script(asks("publish", text="news"), asks("ask_human", question="Red or blue?"), says("Done."))
    async with (
        receiving() as receiver,
        worker_here(dev_server, stage.task_queue, stage.folder, notify_webhook=receiver.url, notify_secret=CANARY),
    ):
        run_id = await stage.start(played, agent=AgentSpec(name="clerk", waiting=REMINDED), user="ada")
        await receiver.until(2)
        await stage.client.approve(run_id)
        await receiver.until(5)
        await stage.client.answer(run_id, "red")
        assert (await stage.client.output(run_id)).output == "Done."
        await stage.compare_histories_with_runs()

    # One may overtake another: each is an activity of its own.
    expected = [(told, asked) for asked in ("t1s1a1", "t1s2c1") for told in ("opened", "due", "closed")]
    assert sorted(posted.about for posted in receiver.posted) == sorted(expected)
    assert len({posted.key for posted in receiver.posted}) == len(expected)
    for posted in receiver.posted:
        told = posted.notification
        assert posted.key == told.key
        assert (told.run_id, told.agent, told.user) == (run_id, "clerk", "ada")
        signed = hmac.new(CANARY.encode(), posted.body, hashlib.sha256).hexdigest()
        assert posted.headers["perdure-signature"] == f"sha256={signed}"
    opened = next(posted.notification for posted in receiver.posted if posted.about == ("opened", "t1s1a1"))
    assert opened.request is not None
    assert opened.request.calls[0].arguments == {"text": "news"}


async def test_a_hook_that_fails_for_now_is_told_again_under_the_same_key(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    async with (
        receiving(500, 503) as receiver,
        worker_here(dev_server, stage.task_queue, stage.folder, notify_webhook=receiver.url),
    ):
        run_id = await publishing(stage)
        posted = await receiver.until(3)
        assert await attempts_allowed(stage, run_id) == {NOTIFY_ATTEMPTS}
        assert len({each.key for each in posted}) == 1
        assert {each.body for each in posted} == {posted[0].body}
        await stage.client.deny(run_id)
        await stage.client.output(run_id)
    assert [posted.about[0] for posted in receiver.posted] == ["opened"] * 3 + ["closed"]


async def test_a_hook_that_refuses_for_good_is_told_once_and_harms_no_run(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    async with (
        receiving(404, 404) as receiver,
        worker_here(dev_server, stage.task_queue, stage.folder, notify_webhook=receiver.url),
    ):
        run_id = await publishing(stage)
        await receiver.until(1)
        await stage.client.approve(run_id)
        assert (await stage.client.output(run_id)).output == "Done."
        await stage.compare_histories_with_runs()
    assert [posted.about[0] for posted in receiver.posted] == ["opened", "closed"]
    assert effects(stage.folder) == ["publish news"]


async def test_a_webhook_that_hangs_keeps_no_run_from_its_work(
    stage_without_worker: Stage, dev_server: str, foreign_port: int
) -> None:
    stage = stage_without_worker
    async with worker_here(
        dev_server,
        stage.task_queue,
        stage.folder,
        notify_webhook=f"http://127.0.0.1:{foreign_port}/",
        notify_timeout=timedelta(seconds=20),
    ):
        run_id = await publishing(stage)
        await stage.client.approve(run_id)
        await stage.until_kind(run_id, "run_closed")
        assert effects(stage.folder) == ["publish news"]
        assert (await stage.client.output(run_id)).output == "Done."
        await stage.compare_histories_with_runs()


async def test_that_a_request_closed_is_told_also_when_the_run_ends_with_it(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage = stage_without_worker
    async with (
        receiving() as receiver,
        worker_here(dev_server, stage.task_queue, stage.folder, notify_webhook=receiver.url),
    ):
        run_id = await publishing(stage)
        await receiver.until(1)
        await stage.client.cancel(run_id)
        assert (await stage.client.output(run_id)).status == "canceled"
    assert [posted.about[0] for posted in receiver.posted] == ["opened", "closed"]


async def test_a_later_run_of_the_same_id_is_told_under_keys_of_its_own(
    stage_without_worker: Stage, dev_server: str
) -> None:
    stage, run_id = stage_without_worker, unique("nightly")
    async with (
        receiving() as receiver,
        worker_here(dev_server, stage.task_queue, stage.folder, notify_webhook=receiver.url),
    ):
        for _ in range(2):
            await publishing(stage, run_id=run_id)
            await stage.client.deny(run_id)
            await stage.client.output(run_id)
    assert len({posted.key for posted in receiver.posted}) == 4


async def test_a_command_is_told_on_its_input(stage_without_worker: Stage, dev_server: str, tmp_path: Path) -> None:
    stage, told = stage_without_worker, tmp_path / "told.jsonl"
    source = f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read() + chr(10))"
    async with worker_here(dev_server, stage.task_queue, stage.folder, notify_command=(sys.executable, "-c", source)):
        run_id = await publishing(stage)
        await eventually(told.exists)
        await stage.client.deny(run_id)
        await stage.client.output(run_id)
    lines = [json.loads(line) for line in told.read_text().splitlines()]
    assert [(line["stage"], line["run_id"], line["request"]["request_id"]) for line in lines] == [
        ("opened", run_id, "t1s1a1"),
        ("closed", run_id, "t1s1a1"),
    ]


async def test_without_a_hook_a_run_starts_no_notification(stage: Stage) -> None:
    run_id = await publishing(stage)
    await stage.client.approve(run_id)
    await stage.client.output(run_id)
    assert NOTIFY not in await scheduled(stage, run_id)


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_no_secret_of_a_hook_is_in_the_history_or_the_log(
    stage_without_worker: Stage, start_worker: StartWorker, status: int
) -> None:
    stage = stage_without_worker
    async with receiving(*[status] * 2, said=CANARY) as receiver:
        url = receiver.url.replace("//", f"//ada:{CANARY}@").replace("/hook", f"/{CANARY}?token={CANARY}")
        (stage.folder / "said").write_text(CANARY)
        command = f"sh -c 'env > {stage.folder}/env; cat {stage.folder}/said >&2; exit 3'"
        worker = start_worker(
            tools=TOOLS,
            model="demo:demo",
            agents=str(stage.folder / "none"),
            log_level="debug",
            notify_webhook=url,
            notify_secret=CANARY,
            notify_command=command,
        )
        request = RunRequest(
            message="Do it.",
            model=stage.model(script(asks("publish", text="news"), says("Done."))),
            workspace=str(stage.folder),
        )
        run_id = await stage.client.start(request)
        await receiver.until(1)
        await eventually(lambda: "a notification failed" in worker.output)
        await stage.client.deny(run_id)
        await stage.client.output(run_id)
        assert receiver.posted[0].path == f"/{CANARY}?token={CANARY}"
        worker.stop()
    assert NOTIFY in await scheduled(stage, run_id)
    assert CANARY.encode() not in await recorded(stage.temporal, run_id)
    assert CANARY not in worker.output
    assert CANARY not in (stage.folder / "env").read_text()
