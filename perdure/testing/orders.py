"""What people tell a run in a test, and when: an order is given as soon as the run is where it waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from perdure.contracts.requests import Cancel, Order
from perdure.contracts.state import State


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a run: its state, and what the model has said so far of the message that it is writing."""

    state: State
    said: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """An order and the moment that it waits for; ``when`` says which in words."""

    order: Order | Cancel
    due: Callable[[Moment], bool]
    when: str

    def __str__(self) -> str:
        return f"{type(self.order).__name__}({self.order!s}), when {self.when}"


def when_waiting(order: Order | Cancel) -> Planned:
    """When calls wait for approval."""
    return Planned(order, lambda moment: bool(moment.state.requests), "calls wait for approval")


def when_asked(order: Order | Cancel) -> Planned:
    """When a question of the agent is open."""
    return Planned(order, lambda moment: bool(moment.state.questions), "a question is open")


def when_idle(order: Order | Cancel) -> Planned:
    """When a conversation rests."""
    return Planned(order, lambda moment: moment.state.status == "idle", "the run rests")


def when_calling(tool: str, order: Order | Cancel) -> Planned:
    """When a call of the tool runs."""

    def due(moment: Moment) -> bool:
        turn = moment.state.turn
        return turn is not None and any(call.tool == tool and call.status == "running" for call in turn.batch)

    return Planned(order, due, f"{tool} runs")


def when_asking_model(step: int, order: Order | Cancel) -> Planned:
    """When the model is asked in this step of a turn."""

    def due(moment: Moment) -> bool:
        turn = moment.state.turn
        return turn is not None and turn.step == step and turn.model_call is not None

    return Planned(order, due, f"the model is asked in step {step}")


def when_said(text: str, order: Order | Cancel) -> Planned:
    """When the model has come as far as this text, in a message that it still writes."""
    return Planned(order, lambda moment: text in moment.said, f"the model has said {text!r}")
