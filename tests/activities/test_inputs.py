from __future__ import annotations

from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.inputs import activity_named
from perdure.contracts.generation import EmbeddingQuery, TranscriptionQuery
from perdure.contracts.messages import AudioPart
from perdure.contracts.tools import CallContext


class Desk:
    @activity_named("embed")
    async def embed(self, query: EmbeddingQuery) -> EmbeddingQuery:
        return query

    @activity_named("transcribe")
    async def transcribe(self, query: TranscriptionQuery) -> TranscriptionQuery:
        return query


@activity_named("add")
async def add(arguments: dict[str, JsonValue], context: CallContext) -> JsonValue:
    return [arguments["a"], context.run_id]


CONTEXT: Any = {"run_id": "r", "call_id": "c", "tool": "add", "idempotency_key": "k"}


async def refused(function: Any, *given: Any) -> str:
    with pytest.raises(ApplicationError) as caught:
        await ActivityEnvironment().run(function, *given)
    assert (caught.value.type, caught.value.non_retryable) == ("invalid_input", True)
    assert caught.value.__cause__ is None
    return caught.value.message


async def test_plain_json_and_records_are_read_as_what_the_activity_takes() -> None:
    query = EmbeddingQuery(model="a:b", texts=("one",))
    plain: Any = {"model": "a:b", "texts": ["one"], "new": 1}
    assert await ActivityEnvironment().run(Desk().embed, plain) == query
    assert await ActivityEnvironment().run(Desk().embed, query) == query
    heard = TranscriptionQuery(model="a:b", audio=AudioPart(media_type="audio/wav", data=b"\x00\xff"))
    assert await ActivityEnvironment().run(Desk().transcribe, heard) == heard
    sound: Any = heard.model_dump(mode="json")
    assert await ActivityEnvironment().run(Desk().transcribe, sound) == heard
    assert await ActivityEnvironment().run(add, {"a": 1.5}, CONTEXT) == [1.5, "r"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "a:b"}, "cannot read its input 'query': texts: Field required."),
        ({"texts": ["sk-canary"]}, "cannot read its input 'query': model: Field required."),
        ({"model": "a:b", "texts": "sk-canary"}, "cannot read its input 'query': texts: Input should be a valid "),
        ("sk-canary", "cannot read its input 'query': input: Input should be an object."),
        (None, "cannot read its input 'query': input: Input should be an object."),
        (b"\xff", "cannot read its input 'query': it is no JSON."),
    ],
)
async def test_input_that_does_not_fit_fails_for_good_by_field_and_without_values(given: Any, said: str) -> None:
    message = await refused(Desk().embed, given)
    assert message.startswith(f"The activity embed {said}")
    assert "canary" not in message
    assert "pydantic" not in message


async def test_too_few_and_too_many_inputs_fail_for_good() -> None:
    assert await refused(Desk().embed) == "The activity embed takes 1 input (query) and got 0."
    assert await refused(Desk().embed, "a:b", ["one"]) == "The activity embed takes 1 input (query) and got 2."
    assert await refused(add, {"a": 1}) == "The activity add takes 2 inputs (arguments, context) and got 1."
    assert await refused(add, ["a"], CONTEXT) == (
        "The activity add cannot read its input 'arguments': input: Input should be an object."
    )
