from __future__ import annotations

from perdure.contracts.requests import Send
from tests.brain.runs import Led


def test_nothing_is_told_after_a_run_closed() -> None:
    run = Led()
    run.resolved()
    run.replied("Done.")

    run.told(Send(message="too late"))

    assert run.events[-1].kind == "run_closed"
