"""The activity ``generate_object``: one object that fits a JSON Schema, without a conversation around it.

It is got in the best way that the model has: held to the schema by its server, else as the arguments of a tool that it
must call, else as text. Whatever the way, it is checked here, and asked for once more with what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from pydantic import JsonValue, ValidationError
from temporalio import activity

from perdure.activities.heartbeat import Heartbeat
from perdure.activities.inputs import activity_named
from perdure.activities.model import Providers
from perdure.activities.posture import posture, told
from perdure.activities.setbacks import may_cost, setback
from perdure.brain.outputs import read_output
from perdure.context.render import MISFIT, SCHEMA
from perdure.contracts.errors import BadReplyError, InvalidInputError, RefusedError
from perdure.contracts.generation import ObjectMade, ObjectQuery, Way
from perdure.contracts.messages import AssistantMessage, Message, TextPart, ToolMessage, UserMessage
from perdure.contracts.names import GENERATE_OBJECT
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.schemas import schema_fault
from perdure.contracts.tools import ToolSpec
from perdure.contracts.usage import Bill, Cost, Usage
from perdure.providers.stream import Assembler

ANSWER = "give_answer"
"""The tool by whose arguments a model gives an object."""

_WRAPPED = "value"
"""The argument that holds an answer that is no object, since arguments are one."""


class ObjectProviders(Providers, Protocol):
    """Where models are found by name, and how each best gives an object."""

    def way(self, request: ModelRequest) -> Way:
        """The best way to an object that fits the request's schema."""
        ...


class ObjectActivities:
    """Structured objects, over the worker's providers."""

    def __init__(self, providers: ObjectProviders) -> None:
        self._providers = providers

    @activity_named(GENERATE_OBJECT)
    async def generate_object(self, query: ObjectQuery) -> ObjectMade:
        """Ask a model for an object.

        Fails for good when the schema is none, the model refuses, or its second answer does not fit either. What all
        attempts took is in the result, and in a failure's second detail.
        """
        info = activity.info()
        with posture():
            async with Heartbeat() as heartbeat:
                account = Account(_left(info.heartbeat_details), heartbeat.report)
                try:
                    return await make_object(self._providers, query, account)
                except Exception as error:  # noqa: BLE001 - whatever it is, what was taken is told with it
                    raise told(setback(error, attempt=info.attempt), account.bill) from None


class Account:
    """What all requests for an object took so far, those of earlier attempts included; each change is told."""

    def __init__(self, bill: Bill | None = None, tell: Callable[[Bill], None] | None = None) -> None:
        self.bill = bill or Bill()
        self._tell = tell or (lambda bill: None)

    def expect(self, usage: Usage, cost: Cost) -> None:
        """Tell of a request that is about to go out: nobody else does if this worker is lost."""
        self._tell(self._with(usage, cost))

    def book(self, usage: Usage, cost: Cost) -> None:
        """Take in what a request took."""
        self.bill = self._with(usage, cost)
        self._tell(self.bill)

    def _with(self, usage: Usage, cost: Cost) -> Bill:
        return Bill(usage=self.bill.usage + usage, cost=self.bill.cost + cost)


def _left(details: Sequence[Any]) -> Bill:
    try:
        return Bill.model_validate(details[0]) if details else Bill()
    except ValidationError:
        return Bill()  # Another release wrote them.


async def make_object(providers: ObjectProviders, query: ObjectQuery, account: Account | None = None) -> ObjectMade:
    """The object, with all that ``account`` comes to. Raises InvalidInputError for a schema that is none, and whatever
    a model's provider raises."""
    account = account or Account()
    if fault := schema_fault(query.output_schema):
        raise InvalidInputError(str(fault))
    asked = ModelRequest(model=query.model, messages=(_question(query),), output_schema=query.output_schema)
    way = providers.way(asked)
    request = _prepared(query, asked, way)
    problem = ""
    for repaired in (False, True):
        message = await _answer(providers, request, account, number=1 + repaired)
        value, problem = _read(message, query, way)
        if not problem:
            bill = account.bill
            return ObjectMade(value=value, way=way, repaired=repaired, usage=bill.usage, cost=bill.cost)
        request = request.model_copy(update={"messages": (*request.messages, message, *_complaints(message, problem))})
    error = BadReplyError(query.model.partition(":")[0], f"the answer does not fit the schema, asked twice: {problem}")
    error.retryable = False
    raise error


def _question(query: ObjectQuery) -> UserMessage:
    words = (TextPart(text=query.prompt),) if query.prompt else ()
    if not (words or query.parts):
        raise InvalidInputError("There is nothing to ask: give a prompt or parts.")
    return UserMessage(message_id="question", parts=(*words, *query.parts))


def _prepared(query: ObjectQuery, asked: ModelRequest, way: Way) -> ModelRequest:
    bounds = {"max_output_tokens": query.max_output_tokens, "temperature": query.temperature, "system": query.system}
    if way == "tool":
        tool = ToolSpec(name=ANSWER, description="Give the answer.", parameters=_parameters(query.output_schema))
        return asked.model_copy(update={**bounds, "tools": (tool,), "must_call": True, "output_schema": None})
    schema = f"{SCHEMA}\n{json.dumps(query.output_schema, ensure_ascii=False)}"
    system = f"{query.system}\n\n{schema}" if query.system else schema
    return asked.model_copy(update={**bounds, "system": system})


def _is_wrapped(schema: dict[str, JsonValue]) -> bool:
    return schema.get("type") != "object"


def _parameters(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if not _is_wrapped(schema):
        return schema
    return {"type": "object", "properties": {_WRAPPED: schema}, "required": [_WRAPPED]}


async def _answer(
    providers: ObjectProviders, request: ModelRequest, account: Account, *, number: int
) -> AssistantMessage:
    assembler = Assembler(f"answer{number}", request.model)
    provider = providers.open(request.model)
    account.expect(assembler.usage, assembler.cost)
    worked = False
    try:
        async with aclosing(provider.stream(request)) as pieces:
            async for piece in pieces:
                worked = True
                assembler.add(piece)
    except Exception as error:
        worked = worked or may_cost(error)
        account.book(*((assembler.usage, assembler.cost) if worked else (Usage(requests=1), Cost())))
        raise
    account.book(assembler.usage, assembler.cost)
    return assembler.message()


def _read(message: AssistantMessage, query: ObjectQuery, way: Way) -> tuple[JsonValue, str]:
    """The object in the answer, and the problem with it."""
    if message.finish == "refused":
        raise RefusedError(query.model.partition(":")[0], message.text or "the model refused")
    if message.finish == "length":
        return None, "It was cut at the limit of its length."
    call = next((call for call in message.calls if call.tool == ANSWER), None)
    if way != "tool" or call is None:
        return read_output(message.text, query.output_schema)
    if call.arguments is None:
        return None, "The arguments are no JSON object."
    wrapped = _is_wrapped(query.output_schema)
    value = call.arguments.get(_WRAPPED) if wrapped else call.arguments
    return read_output(json.dumps(value), query.output_schema)


def _complaints(message: AssistantMessage, problem: str) -> Sequence[Message]:
    if message.calls:
        return [
            ToolMessage(
                message_id=f"{call.call_id}/result",
                call_id=call.call_id,
                tool=call.tool,
                status="invalid",
                text=problem,
            )
            for call in message.calls
        ]
    return [UserMessage(message_id=f"{message.message_id}/problem", parts=(TextPart(text=f"{MISFIT} {problem}"),))]
