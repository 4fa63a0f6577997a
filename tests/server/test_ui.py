"""What operators see of runs in Temporal's own UI."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.api.sdk.v1 import WorkflowMetadata

from perdure.contracts.names import SEARCH_ATTRIBUTES
from perdure.testing.script import asks, fails, says, script, together
from tests.server.browser import CHROMIUM, DRIVER, browsing
from tests.server.stage import Stage, worker_here
from tests.servers import DEADLINE, free_port, running_server

pytestmark = pytest.mark.slow

LIST = "/namespaces/default/workflows"
API = f"/api/v1{LIST}"
LOOK = 0.1
LOOKS = int(DEADLINE / LOOK)
METADATA = "__temporal_workflow_metadata"
"""The query that the UI asks for the current details."""


@dataclass(frozen=True, slots=True)
class Ui:
    """A server's address, and its UI's."""

    address: str
    url: str

    async def asked(self, path: str, **parameters: str) -> Any:
        """What the UI's own backend says, once it has reached its server, which takes it a moment at the start."""
        async with httpx.AsyncClient(trust_env=False, base_url=self.url) as http:
            for _ in range(LOOKS):
                answer = await http.get(path, params=parameters)
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    break
                await asyncio.sleep(LOOK)
        return answer.raise_for_status().json()


TESTED = "[data-testid="


def keep(name: str, picture: bytes) -> None:
    """Keep a picture for people when they name a folder: `PERDURE_PICTURES=docs/images`."""
    if folder := os.environ.get("PERDURE_PICTURES"):
        (Path(folder) / f"ui-{name}.png").write_bytes(picture)


@pytest.fixture(scope="module")
def ui() -> Iterator[Ui]:
    """A server of this module's own, with its UI."""
    port = free_port()
    with running_server("--headless=false", "--ui-port", str(port)) as address:
        yield Ui(address, f"http://127.0.0.1:{port}")


@pytest.fixture
async def watched(ui: Ui, tmp_path: Path) -> AsyncIterator[Stage]:
    """A stage on the server that has a UI, with a worker."""
    stage = await Stage.on(ui.address, tmp_path)
    async with worker_here(ui.address, stage.task_queue, tmp_path):
        yield stage


WRITES = script(
    asks("read_file", path="report.txt"),
    asks("write_file", path="SUMMARY.md", content="14 of 20 gauges are mounted."),
    says("I wrote it."),
)


async def a_run_that_waits(watched: Stage) -> str:
    (watched.folder / "report.txt").write_text("14 of 20 gauges are mounted.\n")
    run_id = await watched.start(WRITES, "Summarise the report into SUMMARY.md", user="ana")
    await watched.until_kind(run_id, "request_opened")
    return run_id


async def test_every_event_that_is_worth_a_look_says_what_it_is_about(watched: Stage) -> None:
    run_id = await a_run_that_waits(watched)
    decode = watched.temporal.data_converter.payload_converter.from_payload

    said = [
        decode(event.user_metadata.summary)
        async for event in watched.temporal.get_workflow_handle(run_id).fetch_history_events()
        if event.HasField("user_metadata")
    ]

    model = (await watched.client.summary(run_id)).model
    assert said == [
        "Summarise the report into SUMMARY.md",
        f"turn 1, step 1: {model}",
        "t1s1c1 read_file",
        't1s1c1: {"path": "report.txt"}',
        f"turn 1, step 2: {model}",
        "t1s2c1 write_file",
    ]


async def test_current_details_say_what_is_awaited_and_how_to_give_it(watched: Stage) -> None:
    run_id = await a_run_that_waits(watched)

    shown: WorkflowMetadata = await watched.temporal.get_workflow_handle(run_id).query(METADATA)

    assert shown.current_details.startswith("**waiting_approval** · turn 1, step 2")
    assert "approve or deny `t1s2c1` `write_file` " in shown.current_details
    assert 'Signal `approve` or `deny` with the input `{"call_id": "t1s2c1"}`' in shown.current_details


async def test_the_memo_says_the_same_without_a_worker_and_when_that_was(watched: Stage) -> None:
    run_id = await a_run_that_waits(watched)

    memo = await (await watched.temporal.get_workflow_handle(run_id).describe()).memo()

    assert "approve or deny `t1s2c1`" in memo["perdure"]
    assert "\n\nas of 20" in memo["perdure"]


async def test_the_list_finds_runs_by_what_they_wait_for_and_by_whom_they_serve(ui: Ui, watched: Stage) -> None:
    waiting = await a_run_that_waits(watched)
    failed = await watched.start(script(fails("bad_request"), says("x")), user="ben")
    asking = await watched.start(script(together(says("Hm."), asks("ask_human", question="Which month?"))), user="ana")
    await watched.until_kind(failed, "run_closed")
    await watched.until_kind(asking, "question_opened")
    queue = f"TaskQueue = '{watched.task_queue}'"

    async def finds(query: str, expected: set[str]) -> None:
        """The list comes to hold exactly these: the server's index follows what happens a moment later."""
        found: set[str] = set()
        for _ in range(LOOKS):
            answer = await ui.asked(API, query=f"{queue} AND {query}")
            found = {execution["execution"]["workflowId"] for execution in answer.get("executions", ())}
            if found == expected:
                return
            await asyncio.sleep(LOOK)
        assert found == expected

    await finds("PerdureStatus = 'waiting_approval'", {waiting})
    await finds("PerdureStatus STARTS_WITH 'waiting'", {waiting, asking})
    await finds("PerdureUser = 'ana' AND PerdureAgent = 'assistant'", {waiting, asking})
    await finds("PerdureStatus = 'failed'", {failed})


@pytest.mark.skipif(not CHROMIUM or not DRIVER, reason="Chromium and chromedriver are not installed")
async def test_an_operator_finds_a_waiting_run_and_approves_with_the_signal_form(ui: Ui, watched: Stage) -> None:
    run_id = await a_run_that_waits(watched)

    async with browsing(watched.folder / "profile") as browser:
        await browser.go(f"{ui.url}{LIST}")
        await browser.click(f"{TESTED}'workflows-summary-table-configuration-button']")
        for column in ("Run ID", "Type", "End"):
            await browser.click(f"{TESTED}'orderable-list-item-{column}-remove-button']")
        for column in SEARCH_ATTRIBUTES:
            await browser.click(f"{TESTED}'orderable-list-item-{column}-add-button']")
        await browser.go(f"{ui.url}{LIST}")
        await browser.find("td", "waiting_approval")
        keep("list", await browser.picture())

        await browser.click("a", run_id)
        await browser.find("button", 'read_file • t1s1c1: {"path": "report.txt"}')
        keep("timeline", await browser.picture())

        await browser.click("a", "User Metadata")
        await browser.frame("iframe[src*=waiting_approval]")
        await browser.find("body", 'Signal approve or deny with the input {"call_id": "t1s2c1"}')
        await browser.leave_frame()
        keep("details", await browser.picture())

        await browser.click("button", "More Actions")
        await browser.click(f"{TESTED}signal-button]")
        await browser.click(f"{TESTED}signal-select-button]")
        await browser.click("[role=option]", "approve")
        await browser.type('{"call_id": "t1s2c1"}', "[contenteditable=true]")
        keep("signal", await browser.picture())
        await browser.click(f"{TESTED}confirm-modal-button]", "Submit")
        output = await watched.client.output(run_id)

    assert output.output == "I wrote it."
    assert (watched.folder / "SUMMARY.md").read_text() == "14 of 20 gauges are mounted."
