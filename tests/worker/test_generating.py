"""The activities beside conversations, asked for by name by a workflow that knows nothing else of Perdure."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import ActivityFailureError, Client, WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from perdure.contracts.names import (
    EMBED,
    GENERATE_IMAGE,
    GENERATE_OBJECT,
    GENERATE_SPEECH,
    GENERATE_VIDEO,
    RESERVED_ACTIVITIES,
    TRANSCRIBE,
)
from perdure.testing.script import save, says, script
from tests.servers import StartWorker, unique


@workflow.defn(name="AsksByName")
class AsksByName:
    @workflow.run
    async def run(self, name: str, query: dict[str, Any], task_queue: str) -> Any:
        return await workflow.execute_activity(
            name,
            query,
            task_queue=task_queue,
            start_to_close_timeout=timedelta(seconds=60),
            retry_policy=RetryPolicy(maximum_attempts=2),
        )


async def test_each_is_served_under_its_own_name_to_plain_json(
    temporal_client: Client, start_worker: StartWorker, task_queue: str, tmp_path: Path
) -> None:
    model = save(script(says('{"city": "Paris"}')), tmp_path / "script.json")
    start_worker(model=model)
    own = f"{task_queue}-own"

    async def asked(name: str, **query: Any) -> Any:
        return await temporal_client.execute_workflow(
            "AsksByName", args=[name, query, task_queue], id=unique("asks"), task_queue=own
        )

    async with Worker(
        temporal_client, task_queue=own, workflows=[AsksByName], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        schema = {"type": "object", "required": ["city"]}
        made = await asked(GENERATE_OBJECT, model=model, prompt="Which city?", output_schema=schema)
        assert (made["value"], made["way"]) == ({"city": "Paris"}, "text")
        assert await asked(EMBED, model="demo:demo", texts=[]) == {
            "vectors": [],
            "usage": made["usage"] | dict.fromkeys(made["usage"], 0),
            "cost": {"nano_dollars": 0, "unpriced": 0},
        }
        sound = {"kind": "audio", "data": "YWJj"}
        for name, query in (
            (EMBED, {"texts": ["a"]}),
            (GENERATE_IMAGE, {"prompt": "sea"}),
            (GENERATE_SPEECH, {"text": "Hi"}),
            (TRANSCRIBE, {"audio": sound}),
            (GENERATE_VIDEO, {"prompt": "sea"}),
        ):
            with pytest.raises(WorkflowFailureError) as caught:
                await asked(name, model="demo:demo", **query)
            assert isinstance(caught.value.cause, ActivityError)
            failure = caught.value.cause.cause
            assert isinstance(failure, ApplicationError)
            assert (failure.type, failure.non_retryable) == ("unsupported", True)


async def test_whoever_calls_an_activity_with_what_it_cannot_read_is_told_at_the_first_attempt(
    temporal_client: Client, start_worker: StartWorker, task_queue: str
) -> None:
    start_worker()
    for name in (*RESERVED_ACTIVITIES, "read_file"):
        with pytest.raises(ActivityFailureError) as caught:
            await temporal_client.execute_activity(
                name,
                args=[["sk-canary"]],
                id=unique("call"),
                task_queue=task_queue,
                start_to_close_timeout=timedelta(seconds=60),
                retry_policy=RetryPolicy(maximum_attempts=2),
            )
        failure = caught.value.cause
        assert isinstance(failure, ApplicationError)
        assert (failure.type, failure.non_retryable) == ("invalid_input", True)
        assert failure.message.startswith(f"The activity {name} ")
        assert "canary" not in failure.message
