from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.objects import ANSWER, ObjectActivities
from perdure.contracts.generation import ObjectMade, ObjectQuery, Way
from perdure.contracts.messages import ImagePart
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.usage import Cost, Usage
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.provider import Provider
from perdure.providers.registry import ProviderRegistry
from perdure.providers.scripted import Reply, Script, ScriptedCall, ScriptedFailure, ScriptedProvider
from perdure.providers.stream import Piece

CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
PARIS = {"city": "Paris"}


class Asked:
    """Plays replies to whatever is asked, keeps the requests, and says by which way objects are got."""

    def __init__(self, way: Way, *replies: Reply) -> None:
        self.requests: list[ModelRequest] = []
        self._way = way
        self._player = ScriptedProvider(Script(replies=replies))

    def open(self, model: str) -> Provider:
        return self

    def way(self, request: ModelRequest) -> Way:
        return self._way

    def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        self.requests.append(request)
        return self._player.stream(request, attempt=attempt)


def written(value: Any) -> Reply:
    return Reply(text=(value if isinstance(value, str) else json.dumps(value),))


def given(value: Any) -> Reply:
    return Reply(calls=(ScriptedCall(tool=ANSWER, arguments=value),))


async def made(providers: Any, environment: ActivityEnvironment | None = None, **fields: Any) -> ObjectMade:
    query = ObjectQuery.model_validate({"model": "corp:m", "output_schema": CITY, "prompt": "Which city?", **fields})
    environment = environment or ActivityEnvironment()
    result: ObjectMade = await environment.run(ObjectActivities(providers).generate_object, query)
    return result


@pytest.mark.parametrize("way", ["schema", "text"])
async def test_an_object_is_written_and_the_schema_stands_in_the_prompt(way: Way) -> None:
    asked = Asked(way, written(PARIS))
    result = await made(asked, system="Be brief.")
    assert (result.value, result.way, result.repaired, result.usage.requests) == (PARIS, way, False, 1)
    (request,) = asked.requests
    assert request.system.startswith("Be brief.\n\n")
    assert json.dumps(CITY) in request.system
    assert request.output_schema == CITY
    assert request.tools == ()


async def test_an_object_is_the_arguments_of_a_tool_that_must_be_called() -> None:
    asked = Asked("tool", given(PARIS))
    assert (await made(asked)).value == PARIS
    (request,) = asked.requests
    assert request.must_call
    assert request.tools[0].parameters == CITY
    assert (request.system, request.output_schema) == ("", None)


async def test_what_is_no_object_is_wrapped_for_a_tool() -> None:
    asked = Asked("tool", given({"value": [1, 2]}))
    result = await made(asked, output_schema={"type": "array", "items": {"type": "integer"}})
    assert result.value == [1, 2]
    assert asked.requests[0].tools[0].parameters["required"] == ["value"]


@pytest.mark.parametrize(
    ("way", "bad", "good"),
    [
        ("text", written("Paris, I think."), written(PARIS)),
        ("schema", written({"town": "Paris"}), written(PARIS)),
        ("tool", given({"town": "Paris"}), given(PARIS)),
        ("tool", written("Paris!"), given(PARIS)),
        ("tool", given({"town": "Paris"}), written(PARIS)),
    ],
)
async def test_an_answer_that_does_not_fit_is_asked_for_once_more(way: Way, bad: Reply, good: Reply) -> None:
    asked = Asked(way, bad, good)
    result = await made(asked)
    assert (result.value, result.repaired) == (PARIS, True)
    assert result.usage.requests == 2
    *_, answer, complaint = asked.requests[1].messages
    assert answer.role == "assistant"
    assert complaint.role == ("tool" if answer.calls else "user")


async def test_the_second_answer_that_does_not_fit_is_the_end() -> None:
    with pytest.raises(ApplicationError, match="asked twice: It: 'city' is a required property") as caught:
        await made(Asked("schema", written({}), written({}), written(PARIS)))
    assert caught.value.non_retryable
    assert caught.value.type == "bad_reply"


async def test_a_refusal_is_one() -> None:
    refusing = Reply(text=("No.",), finish="refused")
    with pytest.raises(ApplicationError, match=r"No\.") as caught:
        await made(Asked("text", refusing))
    assert caught.value.type == "refused"


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"output_schema": {"type": 5}}, "The output schema cannot be used"), ({"prompt": ""}, "There is nothing to ask")],
)
async def test_a_question_that_is_none_is_refused_before_anything_is_sent(fields: dict[str, Any], said: str) -> None:
    asked = Asked("text", written(PARIS))
    with pytest.raises(ApplicationError, match=said) as caught:
        await made(asked, **fields)
    assert caught.value.type == "invalid_input"
    assert asked.requests == []


async def test_parts_go_along() -> None:
    asked = Asked("text", written(PARIS))
    await made(asked, prompt="", parts=[ImagePart(data=b"x")])
    (question,) = asked.requests[0].messages
    assert question.role == "user"
    assert question.parts == (ImagePart(data=b"x"),)


def test_usage_of_both_rounds_is_one_sum() -> None:
    asked = Asked("text", written("x"), written(PARIS))
    assert asyncio.run(made(asked)).usage == Usage(requests=2, input_tokens=20, output_tokens=10)


async def test_what_failed_requests_took_is_told_and_counted_by_the_next_attempt() -> None:
    bills: list[Any] = []
    turned_away = Reply(text=("y",), failures=(ScriptedFailure(kind="overloaded"),))
    first = ActivityEnvironment()
    first.on_heartbeat = lambda *details: bills.extend(details)

    with pytest.raises(ApplicationError) as caught:
        await made(Asked("text", written("x"), turned_away), first)
    second = ActivityEnvironment()
    second.info = replace(second.info, attempt=2, heartbeat_details=[bills[-1].model_dump()])
    made_then = await made(Asked("text", written(PARIS)), second)

    assert caught.value.details[1] == bills[-1]
    assert bills[-1].usage == Usage(requests=2, input_tokens=10, output_tokens=5)
    assert made_then.usage == Usage(requests=3, input_tokens=20, output_tokens=10)


async def test_a_request_counts_as_sent_before_it_goes_out() -> None:
    bills: list[Any] = []
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *details: bills.extend(details)
    await made(Asked("text", written(PARIS)), environment)
    assert bills[0].usage == Usage(requests=1, incomplete=1)
    assert bills[0].cost == Cost(unpriced=1)


async def test_a_misfit_asked_twice_tells_what_both_answers_took() -> None:
    with pytest.raises(ApplicationError) as caught:
        await made(Asked("schema", written({}), written({})))
    assert caught.value.details[1].usage == Usage(requests=2, input_tokens=20, output_tokens=10)


@pytest.mark.parametrize(
    ("model", "schema", "way"),
    [
        ("openai:gpt-5-mini", CITY, "schema"),
        ("openai:gpt-3.5-turbo", CITY, "tool"),
        ("openai:gpt-5-mini", {"type": "array"}, "tool"),
        ("corp:unknown", CITY, "text"),
        ("scripted:x.json", CITY, "text"),
        ("demo:demo", CITY, "text"),
    ],
)
def test_the_registry_says_by_which_way(model: str, schema: dict[str, Any], way: Way) -> None:
    settings = ProviderSettings(endpoints={"corp": Endpoint(base_url="https://corp.example/v1")})
    registry = ProviderRegistry(settings, {"OPENAI_API_KEY": "sk-1"})
    assert registry.way(ModelRequest(model=model, output_schema=schema)) == way
