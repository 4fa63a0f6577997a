"""Faults as another's mock server makes them, through whole runs: its own verdict on our client must be clean.

The adapter never retries, Temporal does: so what is judged is a worker with a real server behind it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure import AgentSpec, RunRequest
from perdure.contracts.errors import RunFailedError
from perdure.providers.catalogue import Endpoint
from tests.server.stage import Stage, worker_here
from tests.wire.programs import asked, llmock, needs_llmock

pytestmark = [pytest.mark.slow, needs_llmock]

PROTOCOLS = {
    "chat": ("/v1", "openai-chat", "openai"),
    "responses": ("/v1", "openai-responses", "openai"),
    "anthropic": ("/anthropic/v1", "anthropic", "anthropic"),
    "gemini": ("/gemini/v1beta", "gemini", "gemini"),
}

MENDED: dict[str, dict[str, Any]] = {
    "limited": {"type": "fail", "status": 429, "retry_after": 1.0},
    "limited-briefly": {"type": "fail", "status": 429, "retry_after": 0.2},
    "unavailable": {"type": "fail", "status": 503},
    "broken": {"type": "fail", "status": 500},
    "overloaded": {"type": "fail", "status": 529},
    "disconnected": {"type": "stream_fault", "kind": "disconnect", "after_chunks": 2},
    "truncated": {"type": "stream_fault", "kind": "truncate", "after_chunks": 2},
    "malformed": {"type": "stream_fault", "kind": "malformed", "after_chunks": 2},
    "slow": {"type": "delay", "seconds": 0.5},
}
FATAL: dict[str, dict[str, Any]] = {
    "refused": {"type": "fail", "status": 400, "times": None},
    "unknown-key": {"type": "fail", "status": 401, "times": None},
    "missing": {"type": "fail", "status": 404, "times": None},
}
KINDS = {"refused": "bad_request", "unknown-key": "authentication", "missing": "bad_request"}


def endpoints(address: str) -> dict[str, Endpoint]:
    return {
        name: Endpoint.model_validate({"base_url": address + path, "protocol": protocol, "dialect": dialect})
        for name, (path, protocol, dialect) in PROTOCOLS.items()
    }


async def run(stage: Stage, model: str) -> str:
    """What a run of one turn says, or the kind of the failure that it ended with."""
    request = RunRequest(message=f"Say hello to {model}.", agent=AgentSpec(tools=()), model=model)
    run_id = await stage.client.start(request)
    try:
        return str((await stage.client.output(run_id)).output)
    except RunFailedError as error:
        return error.failure().kind


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_every_fault_is_outlived_or_told_and_the_verdict_is_clean(
    stage_without_worker: Stage, dev_server: str, protocol: str
) -> None:
    stage = stage_without_worker
    with llmock() as address:
        faults = [{**fault, "match": {"model": name}} for name, fault in {**MENDED, **FATAL}.items()]
        # It can tell that we stopped reading only while it still writes: so that answer is long.
        long = {"type": "reply", "text": "on and on " * 2_000, "times": 2, "match": {"model": "malformed"}}
        asked("POST", f"{address}/_llmock/scenario", {"behaviors": [*faults, long]})
        async with worker_here(dev_server, stage.task_queue, stage.folder, providers=endpoints(address)):
            names = [*MENDED, *FATAL]
            said = await asyncio.gather(*(run(stage, f"{protocol}:{name}") for name in names))
        outcome = dict(zip(names, said, strict=True))
        assert {name: outcome[name] for name in FATAL} == KINDS
        assert all(len(outcome[name]) > 10 and " " in outcome[name] for name in MENDED), outcome
        verdict = asked("GET", f"{address}/_llmock/verdict")
    assert verdict["findings"] == []
    assert (verdict["passed"], verdict["calls"]) == (True, len(names))
    assert verdict["attempts"] == len(names) + len(MENDED) - 1
