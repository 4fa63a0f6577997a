from __future__ import annotations

from datetime import timedelta

from perdure.contracts.agent import AgentSpec, Limits
from perdure.contracts.brief import brief
from perdure.contracts.messages import ImagePart
from perdure.contracts.requests import Approve, RunRequest


def test_what_was_not_given_is_left_out_and_the_kind_stays() -> None:
    assert brief(Approve(call_id="t1s1c1", actor="")) == {"kind": "approve", "call_id": "t1s1c1"}


def test_a_limit_that_was_given_counts_even_at_its_default() -> None:
    asked = RunRequest(message="Hi", limits=Limits(steps=Limits().steps))
    assert brief(asked) == {"message": "Hi", "limits": {"steps": Limits().steps}}


def test_a_brief_record_reads_back_as_what_it_was() -> None:
    asked = RunRequest(
        message="Hi",
        attachments=(ImagePart(media_type="image/png", data=b"\xff\xfe\xfd"),),
        agent=AgentSpec(name="x", prompt="p", limits=Limits(steps=3)),
        idle_timeout=timedelta(minutes=5),
        metadata={"a": [1, None]},
    )
    assert RunRequest.model_validate(brief(asked), extra="forbid") == asked
