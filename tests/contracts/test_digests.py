from __future__ import annotations

from hypothesis import given

from perdure.contracts.digests import START, digest_of, extend_digest
from perdure.contracts.messages import TextPart, UserMessage
from tests.contracts.records import json_values

MESSAGE = UserMessage(message_id="u1", parts=(TextPart(text="Grüße"),))


def test_digests_are_what_they_were_in_earlier_histories() -> None:
    # Approvals and transcripts of running runs are recognised by these: another value would refuse or refetch them all.
    assert digest_of({"tool": "write", "arguments": {"path": "ä.md"}}) == "85d170afc05d1653237f8a17af40a635"
    assert extend_digest(START, MESSAGE) == "744f862ccc981ab5cc06e3e35234d0e3"


def test_the_order_of_keys_does_not_matter_and_everything_else_does() -> None:
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    others = [{"a": 1}, {"a": "1"}, {"a": [1]}, {"a": None}, {"a": True}, {}, [], None, ""]
    assert len({digest_of(other) for other in others}) == len(others)


def test_text_that_no_encoding_can_hold_has_a_digest_too() -> None:
    assert digest_of({"name": "\udcff"}) != digest_of({"name": "?"})


@given(value=json_values)
def test_a_digest_is_short_and_always_the_same(value: object) -> None:
    assert digest_of(value) == digest_of(value)
    assert len(digest_of(value)) == 32


def test_the_digest_of_a_transcript_depends_on_every_message_and_on_their_order() -> None:
    other = MESSAGE.model_copy(update={"message_id": "u2"})
    both = extend_digest(extend_digest(START, MESSAGE), other)

    assert both != extend_digest(extend_digest(START, other), MESSAGE)
    assert both != extend_digest(START, other)
