from __future__ import annotations

import pytest

from perdure.cli.waiting import Waiting, lifted_by_yes
from perdure.contracts.events import AnyEvent, DeadlinePassed, RequestOpened, RunClosed, TurnEnded
from perdure.contracts.requests import Answer, Approve, Deny, Interrupt, Order
from tests.cli.happenings import answered, asked, call, ended, model_called, opened, ordered, question, started, wonders

BATCH = (model_called(), answered("", call("c1"), call("c2"), call("c3")))


def after(*events: AnyEvent) -> Waiting:
    waiting = Waiting()
    for event in events:
        waiting.feed(event)
    return waiting


def test_a_request_waits_until_its_call_is_settled() -> None:
    assert list(after(*BATCH, opened(asked("c1"))).asked) == ["c1"]
    assert list(after(*BATCH, opened(asked("c1")), ended("c1", status="denied")).asked) == []


def test_a_run_is_stuck_only_when_nothing_else_goes_on() -> None:
    waits = (*BATCH, opened(asked("c1")))

    assert not after(*waits).stuck
    assert not after(*waits, started("c2"), ended("c3")).stuck
    assert after(*waits, started("c2"), ended("c3"), ended("c2")).stuck


def test_a_run_in_which_nobody_asks_is_not_stuck() -> None:
    assert not after(model_called(), answered("Done.")).stuck


def test_an_approved_call_has_yet_to_run_and_so_the_run_is_busy() -> None:
    waits = (model_called(), answered("", call("c1"), call("c2")), opened(asked("c1"), asked("c2")))

    assert after(*waits).stuck
    assert not after(*waits, ordered(Approve(call_id="c1"))).stuck
    assert not after(*waits, ordered(Approve(call_id="c1")), started("c1")).stuck
    assert after(*waits, ordered(Approve(call_id="c1")), started("c1"), ended("c1")).stuck


@pytest.mark.parametrize(
    ("order", "left"),
    [
        (Approve(call_id="c1"), ["c2", "c3"]),
        (Approve(), ["c3"]),
        (Approve(call_ids=("c1", "c2")), ["c3"]),
        (Approve(request_id="t1s1a1"), ["c3"]),
        (Approve(request_id="t9s9a9"), ["c1", "c2", "c3"]),
        (Deny(call_id="c2"), ["c1", "c3"]),
        (Answer(answer="blue"), ["c1", "c2"]),
        (Answer(answer="blue", call_id="c3"), ["c1", "c2"]),
        (Interrupt(), ["c1", "c2", "c3"]),
    ],
)
def test_a_response_decides_what_it_names(order: Order, left: list[str]) -> None:
    waits = (*BATCH, opened(asked("c1"), asked("c2")), wonders("c3", "Which?"))

    assert list(after(*waits, ordered(order)).asked) == left


def test_a_refused_response_decides_nothing() -> None:
    waiting = after(*BATCH, opened(asked("c1")), ordered(Approve(call_id="c1"), refused="late"))

    assert list(waiting.asked) == ["c1"]


def test_a_call_that_is_asked_again_is_something_new() -> None:
    first, second = asked("c1"), asked("c1", rule="safety:delete")

    waiting = after(*BATCH, opened(first), ordered(Approve(call_id="c1")), opened(second, version=2))

    assert waiting.asked["c1"] is second


def test_a_deadline_that_passed_decides() -> None:
    waiting = after(*BATCH, opened(asked("c1"), asked("c2")), DeadlinePassed(call_id="c1", decision="deny"))

    assert list(waiting.asked) == ["c2"]


@pytest.mark.parametrize("end", [TurnEnded(turn=1, end="interrupted"), RunClosed(status="canceled")])
def test_the_end_of_a_turn_leaves_nothing_waiting(end: AnyEvent) -> None:
    assert not after(*BATCH, opened(asked("c1")), end).asked


def test_what_a_child_asks_is_not_ours_to_wait_for() -> None:
    event = opened(asked("c1")).model_copy(update={"path": ("child",)})
    assert isinstance(event, RequestOpened)

    assert not after(event).asked


@pytest.mark.parametrize(
    ("rule", "lifted"),
    [("policy", True), ("effect", True), ("safety:delete", False), ("error", False), ("something_new", False)],
)
def test_yes_approves_what_policy_asks_and_nothing_else(rule: str, lifted: bool) -> None:
    assert lifted_by_yes(asked("c1", rule=rule)) is lifted


def test_yes_approves_nothing_that_always_asks() -> None:
    call = asked("c1", rule="policy")
    firm = call.model_copy(update={"verdict": call.verdict.model_copy(update={"firm": True})})

    assert not lifted_by_yes(firm)


def test_yes_answers_no_question() -> None:
    assert not lifted_by_yes(question("c1", "Which?", "yes", "no"))
