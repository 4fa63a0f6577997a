"""What hooks around model calls are told: frozen, and without any key or header."""

from __future__ import annotations

from perdure.contracts.failures import Failure
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.record import Record
from perdure.contracts.usage import Cost, Usage


class ModelCallFacts(Record):
    """Which attempt of which call it is about.

    ``attempt`` counts the attempts of the call from 1, over all its models; ``model`` is the one that this attempt
    asks. An attempt whose worker was lost may be told of twice: ``execution_id``, ``message_id`` and ``attempt``
    together are unique.
    """

    run_id: str
    execution_id: str
    message_id: str
    turn: int
    step: int
    model: str
    attempt: int
    agent: str = ""
    user: str = ""


class ModelCallPlanned(ModelCallFacts):
    """The model is about to be asked ``request``."""

    request: ModelRequest


class ModelCallUsed(ModelCallFacts):
    """What one attempt took, whether it gave an answer or not."""

    usage: Usage
    cost: Cost


class ModelCallAnswered(ModelCallFacts):
    """The message that the run records. Its usage is that of all attempts; ``finish`` says if it was stopped."""

    message: AssistantMessage


class ModelCallFailed(ModelCallFacts):
    """The attempt failed. ``again``: whether another follows, of this model or the next one."""

    failure: Failure
    again: bool
