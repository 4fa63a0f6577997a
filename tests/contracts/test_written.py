from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from perdure.contracts.agent import AgentSpec
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.requests import Approve, Deny, Remember, RunRequest, Send
from perdure.contracts.written import Written


@pytest.mark.parametrize(
    ("kind", "fields", "named"),
    [
        (RunRequest, {"message": "Hi", "modle": "demo:demo"}, "modle"),
        (RunRequest, {"message": "Hi", "humens": "none"}, "humens"),
        (RunRequest, {"message": "Hi", "agent": {"name": "clerk", "promt": "…"}}, "promt"),
        (RunRequest, {"message": "Hi", "limits": {"stepz": 3}}, "limits.stepz"),
        (RunRequest, {"message": 5}, "message"),
        (AgentSpec, {"name": "clerk", "tool": ()}, "tool"),
        (Send, {"message": b"\xff"}, "message"),
        (Approve, {"all": "yes"}, "all"),
        (Approve, {"all": 1}, "all"),
        (Deny, {"all": "true"}, "all"),
        (Remember, {"children": 1}, "children"),
    ],
)
def test_what_people_misspell_or_mistype_is_refused_by_name(
    kind: type[Written], fields: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidInputError, match=named):
        kind(**fields)


def test_what_a_newer_release_recorded_is_read_back() -> None:
    recorded = '{"message": "Hi", "of_tomorrow": 1, "agent": {"name": "clerk", "of_tomorrow": 2}}'

    request = RunRequest.model_validate_json(recorded)

    assert isinstance(request.agent, AgentSpec)
    assert (request.message, request.agent.name) == ("Hi", "clerk")


def test_what_is_written_can_be_copied_and_changed() -> None:
    order = Approve(call_id="t1s1c1")

    assert copy.copy(order) == copy.deepcopy(order) == pickle.loads(pickle.dumps(order)) == order
    assert order.model_copy(update={"digest": "d"}) == Approve(call_id="t1s1c1", digest="d")


def test_an_error_about_what_was_written_quotes_no_value() -> None:
    fields: dict[str, Any] = {"message": "Hi", "user": ["s3cret"]}

    with pytest.raises(InvalidInputError) as caught:
        RunRequest(**fields)

    assert "s3cret" not in str(caught.value)
