"""What a run costs in history: linear in its steps, whatever came before."""

from __future__ import annotations

from tests.bench.history import RESULT_BYTES, cost_of, live_lag
from tests.server.stage import Stage

EVENTS_A_STEP = 13


async def test_events_and_bytes_of_a_step_do_not_grow_with_the_steps_before(stage: Stage) -> None:
    few, more, many = [await cost_of(stage, steps) for steps in (2, 12, 32)]
    assert more.events - few.events == 10 * EVENTS_A_STEP
    assert many.events - more.events == 20 * EVENTS_A_STEP
    early = (more.history_bytes - few.history_bytes) / 10
    late = (many.history_bytes - more.history_bytes) / 20
    assert late < early * 1.05
    assert late < 2 * RESULT_BYTES


async def test_live_text_leaves_no_events(stage: Stage) -> None:
    _, watched = await live_lag(stage, 20, watched=True)
    _, unwatched = await live_lag(stage, 20, watched=False)
    assert watched == unwatched
