"""Conversations with Gemini in few words, and the requests that they make."""

from __future__ import annotations

import json
from typing import Any

from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    CallPart,
    Message,
    Opaque,
    TextPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from perdure.contracts.prompts import ModelRequest
from perdure.providers.dialects import Dialect
from perdure.providers.gemini_encoding import encode
from perdure.providers.tool_names import tool_names

MODEL = "gemini:gemini-3-pro"
ORIGIN = "gemini:generativelanguage.googleapis.com"
SIGNED = Opaque(origin=ORIGIN, data={"thoughtSignature": "c2ln"})


def body(*messages: Message, model: str = MODEL, dialect: Dialect | None = None, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(model=model, messages=messages, **fields)
    encoded = encode(
        request, dialect or Dialect(), provider="gemini", origin=ORIGIN, names=tool_names(request, letter_first=True)
    )
    assert json.loads(json.dumps(encoded)) == encoded
    return encoded


def sent(*messages: Message, model: str = MODEL) -> list[dict[str, Any]]:
    return list(body(*messages, model=model)["contents"])


def user(*parts: UserPart | str) -> UserMessage:
    typed = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return UserMessage(message_id="u1", parts=typed)


def assistant(*parts: AssistantPart | str, model: str = MODEL, message_id: str = "t1s1") -> AssistantMessage:
    typed = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return AssistantMessage(message_id=message_id, parts=typed, model=model)


def call(number: int = 1, provider_id: str = "", step: int = 1, **fields: Any) -> CallPart:
    values = {"arguments": {"path": "a"}, "opaque": SIGNED, **fields}
    return CallPart(call_id=f"t1s{step}c{number}", tool="read", provider_call_id=provider_id, **values)


def result(number: int = 1, step: int = 1, **fields: Any) -> ToolMessage:
    call_id = f"t1s{step}c{number}"
    return ToolMessage(message_id=f"{call_id}r", call_id=call_id, tool="read", **fields)
