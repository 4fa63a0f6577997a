"""What the context room renders and the provider room sends: one model request, in our own shape."""

from __future__ import annotations

from pydantic import JsonValue

from perdure.contracts.messages import Message
from perdure.contracts.record import Record
from perdure.contracts.tools import HostedTool, ToolSpec


class ModelRequest(Record):
    """One request to a model. ``model`` is ``provider:model``; without ``tools`` no call may come back.

    ``cache_key`` is equal for all requests of one conversation: servers that cache prompts by key find it there.
    ``output_schema`` is what the answer must fit: a provider that can hold a model to a schema does. ``hosted`` are
    tools that the provider runs by itself. With ``must_call`` the answer has to be a call of one of ``tools``.
    """

    model: str
    system: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    cache_key: str = ""
    output_schema: dict[str, JsonValue] | None = None
    hosted: tuple[HostedTool, ...] = ()
    must_call: bool = False
