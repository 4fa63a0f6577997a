"""Record histories that later releases must replay. Run it once for a release: ``python -m tests.replay.record``.

It plays each scene on a server of its own and writes the history to ``tests/replay/histories/<version>/<scene>.json``.
A recorded file is never changed: it stands for runs that are going on somewhere.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import perdure
from perdure.testing.exits import leave
from perdure.testing.script import asks, fails, held, says, script, thinks, together, unless_forced
from tests.server.stage import Stage, worker_here
from tests.servers import running_server

HISTORIES = Path(__file__).parent / "histories"

Scene = Callable[[Stage], Awaitable[str]]


async def plain(stage: Stage) -> str:
    """Text, reasoning and calls."""
    run_id = await stage.start(
        script(together(thinks("Hm."), says("I look."), asks("look", name="a"), asks("look", name="b")), says("Done."))
    )
    await stage.client.output(run_id)
    return run_id


async def approvals(stage: Stage) -> str:
    """An approval, a denial, a question, and messages meanwhile."""
    calls = together(asks("publish", text="a"), asks("publish", text="b"), asks("ask_human", question="Why?"))
    run_id = await stage.start(script(calls, says("Done.")))
    await stage.until_kind(run_id, "question_opened")
    await stage.client.send(run_id, "By the way.", client_key="k")
    await stage.client.approve(run_id, "t1s1c1", actor="ada")
    await stage.client.deny(run_id, "t1s1c2", reason="no", actor="ada")
    await stage.temporal.get_workflow_handle(run_id).signal("answer", {"answer": "Because."})
    await stage.client.output(run_id)
    return run_id


async def edited(stage: Stage) -> str:
    """An edited approval that is remembered, and a call that the grant covers."""
    run_id = await stage.start(script(asks("publish", text="a"), asks("publish", text="b"), says("Done.")))
    await stage.until_kind(run_id, "request_opened")
    remember = perdure.Remember(when=())
    await stage.client.approve(run_id, "t1s1c1", arguments={"text": "A"}, remember=remember, actor="ada")
    await stage.client.output(run_id)
    return run_id


async def conversation(stage: Stage) -> str:
    """Three turns, one of them interrupted, then closed."""
    stuck = held(says("I begin", " and never end"), stage.folder / "never", after=1)
    run_id = await stage.start(script(says("Hello."), stuck, says("Bye.")), conversation=True)
    for turn in (1, 2, 3):
        if turn == 2:
            await stage.until_kind(run_id, "text_arrived")
            await stage.client.interrupt(run_id, turn=2)
        await stage.until_turn_ended(run_id, turn)
        if turn < 3:
            await stage.client.send(run_id, f"Message {turn + 1}.")
    await stage.client.close(run_id)
    await stage.client.output(run_id)
    return run_id


async def limits(stage: Stage) -> str:
    """A step limit after retries, invalid calls and a tool that fails."""
    greedy = unless_forced(asks("stumble", how="badly"), says("That is all."))
    played = script(fails("overloaded"), asks("nothing"), greedy, repeat_last=True)
    run_id = await stage.start(played, limits={"steps": 4})
    await stage.client.output(run_id)
    return run_id


async def canceled(stage: Stage) -> str:
    """A cancel while a call waits."""
    run_id = await stage.start(script(asks("publish", text="a"), says("Done.")))
    await stage.until_kind(run_id, "request_opened")
    await stage.client.cancel(run_id, reason="enough")
    await stage.client.output(run_id)
    return run_id


def _scrubbed(value: Any) -> Any:
    """The history without what tells of the machine that recorded it: stack traces, identities, host names."""
    match value:
        case dict():
            return {
                key: "recorded" if key == "identity" else _scrubbed(held)
                for key, held in value.items()
                if key not in ("stackTrace", "workerInstanceKey")
            }
        case list():
            return [_scrubbed(item) for item in value]
        case str():
            return re.sub(r"\d+@[\w.-]+", "recorded", value)
        case _:
            return value


SCENES: tuple[Scene, ...] = (plain, approvals, edited, conversation, limits, canceled)


async def main() -> None:
    """Record every scene that this version has not recorded yet."""
    target = HISTORIES / perdure.__version__
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_server() as address:
        stage = await Stage.on(address, Path(folder))
        async with worker_here(address, stage.task_queue, Path(folder)):
            for scene in SCENES:
                file = target / f"{scene.__name__}.json"
                if not file.exists():
                    run_id = await scene(stage)
                    history = await stage.temporal.get_workflow_handle(run_id).fetch_history()
                    file.write_text(json.dumps(_scrubbed(json.loads(history.to_json())), indent=1) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
    leave(0)
