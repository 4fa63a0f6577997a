from __future__ import annotations

from typing import Any

from perdure.activities.builtin.people import ask_human
from perdure.activities.functions import tool_from
from perdure.contracts.names import ASK_HUMAN
from tests.activities.calling import called


def test_a_question_goes_to_people_and_may_offer_options() -> None:
    spec = tool_from(ask_human).spec
    fields: Any = spec.parameters["properties"]

    assert (spec.name, spec.handler) == (ASK_HUMAN, "human")
    assert spec.parameters["required"] == ["question"]
    assert fields["question"]["type"] == "string"
    assert {"type": "array", "items": {"type": "string"}} in fields["options"]["anyOf"]
    assert fields["multiple"]["type"] == "boolean"


async def test_a_question_that_reaches_a_worker_is_answered_with_an_error() -> None:
    output = await called(ask_human, question="Red or blue?")

    assert output.status == "error"
    assert "'Red or blue?' goes to people" in output.text
