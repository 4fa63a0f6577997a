"""Reading what people send: any number of inputs of any shape, as any Temporal client or the UI's form may send them.

A handler with typed parameters is a trap: a signal without an input, or with two, fails the workflow task for ever.
Handlers therefore take ``*args: Any`` and read them here; what cannot be read is refused with a reason.

What people write is read strictly, down to the last field, unlike what another release of ours recorded: a misspelt
name that is passed over could approve more, or ask less, than was meant.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from perdure.contracts.attachments import check_attachments
from perdure.contracts.continuation import Continuation
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.names import SEND
from perdure.contracts.requests import Order, RunRequest, Send
from perdure.contracts.sizes import check_size
from perdure.contracts.written import explained

_BARE = {
    "send": "message",
    "answer": "answer",
    "approve": "call_id",
    "deny": "call_id",
    "withdraw": "message_id",
    "revoke": "grant_id",
}
"""What a bare string is of each order."""

_NAMING = ("call_id", "call_ids", "request_id", "message_id", "grant_id")
"""Fields that name what is meant. One that is there and empty is a slip, and must not be read as "all"."""

_ORDER: TypeAdapter[Order] = TypeAdapter(Order)


def read_order(kind: str, args: tuple[Any, ...]) -> Order:
    """The order of that kind in a handler's inputs. Raises InvalidInputError, whose text is for the sender.

    No input means an order without fields; a bare string is what the order is mostly about (`_BARE`).
    """
    fields = _fields(kind, args)
    empty = [name for name in _NAMING if name in fields and fields[name] in ("", [], ())]
    if empty:
        raise InvalidInputError(f"The {kind} cannot be read: {empty[0]} is empty. Leave it out, or say what is meant.")
    try:
        order = _ORDER.validate_python({**fields, "kind": kind}, extra="forbid")
    except ValidationError as error:
        raise InvalidInputError(f"The {kind} cannot be read: {explained(error)}.") from None
    check_size(order)
    if isinstance(order, Send):
        check_attachments(order.attachments)
    return order


def read_start(args: tuple[Any, ...]) -> RunRequest | Continuation:
    """What the workflow begins with: a start request (a bare string is its message), or what an earlier execution of
    the run handed over. Raises InvalidInputError.
    """
    if len(args) != 1:
        raise InvalidInputError(f"AgentRun takes one input, an object with at least `message`; it got {len(args)}.")
    fields = {"message": args[0]} if isinstance(args[0], str) else args[0]
    if not isinstance(fields, dict):
        raise InvalidInputError('AgentRun takes an object with at least `message`, such as {"message": "Hello"}.')
    try:
        if fields.get("kind") == "continuation":
            return Continuation.model_validate(fields)
        request = RunRequest.model_validate(fields, extra="forbid")
    except ValidationError as error:
        raise InvalidInputError(f"The start request cannot be read: {explained(error)}.") from None
    check_size(request)
    check_attachments(request.attachments)
    return request


def _fields(kind: str, args: tuple[Any, ...]) -> dict[str, Any]:
    if not args:
        return {}
    if len(args) > 1:
        raise InvalidInputError(f"The {kind} takes one input, an object; it got {len(args)}.")
    value = args[0]
    if value is None:
        return {}
    if isinstance(value, str):
        return _from_text(kind, value)
    if isinstance(value, dict):
        return value
    raise InvalidInputError(f"The {kind} takes an object such as {_example(kind)}.")


def _from_text(kind: str, text: str) -> dict[str, Any]:
    # The UI's form sends what was typed as a JSON string when its encoding is left on plain text.
    try:
        decoded = json.loads(text)
    except ValueError:
        decoded = None
    if isinstance(decoded, dict) and kind != SEND:
        return decoded
    field = _BARE.get(kind)
    return {field: text} if field else {}


def _example(kind: str) -> str:
    examples = {
        "send": '{"message": "…"}',
        "edit": '{"message_id": "u2", "message": "…"}',
        "withdraw": '{"message_id": "u2"}',
        "answer": '{"answer": "…"}',
        "revoke": '{"grant_id": "g1"}',
        "interrupt": '{"reason": "…"}',
        "close": '{"reason": "…"}',
    }
    return examples.get(kind, '{"call_id": "t1s1c1"}')
