"""A Responses server that answers with given events, for the adapter under test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import httpx

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.openai_responses import ResponsesProvider
from perdure.providers.stream import Piece
from tests.providers.serving import KEY, Handler, asking, assembled

ORIGIN = "openai-responses:api.openai.com"
MODEL = "openai-responses:gpt-5-mini"
USAGE = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 3},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 17,
}

Json = dict[str, Any]


def message(text: str, item_id: str = "msg_1", **fields: Any) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content, **fields}


def reasoning(text: str = "", item_id: str = "rs_1", encrypted: str | None = "gAAA") -> Json:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "id": item_id, "summary": summary, "encrypted_content": encrypted}


def call(name: str = "read", arguments: Any = '{"path":"a"}', number: int = 1, **fields: Any) -> Json:
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": arguments,
        "status": "completed",
        **fields,
    }


def response(*output: Json, status: str = "completed", **fields: Any) -> Json:
    return {"id": "resp_1", "object": "response", "status": status, "output": list(output), "usage": USAGE, **fields}


def event(kind: str, **fields: Any) -> Json:
    return {"type": f"response.{kind}", **fields}


def begun() -> Json:
    return event("created", response={"id": "resp_1", "object": "response", "status": "in_progress", "error": None})


def added(index: int, item: Json) -> Json:
    empty: dict[str, Json] = {
        "message": {"content": []},
        "reasoning": {"summary": []},
        "function_call": {"arguments": ""},
    }
    return event("output_item.added", output_index=index, item={**item, **empty.get(item["type"], {})})


def done(index: int, item: Json) -> Json:
    return event("output_item.done", output_index=index, item=item)


def text(delta: str, index: int = 0, item_id: str = "msg_1", content_index: int = 0) -> Json:
    return event(
        "output_text.delta", output_index=index, item_id=item_id, content_index=content_index, delta=delta
    )  # fmt: skip


def completed(*output: Json, **fields: Any) -> Json:
    return event("completed", response=response(*output, **fields))


def events(*values: Json) -> bytes:
    return "".join(f"event: {value.get('type')}\ndata: {json.dumps(value)}\n\n" for value in values).encode()


def serving(
    handler: Handler,
    *,
    settings: ProviderSettings | None = None,
    environ: Mapping[str, str] | None = None,
    name: str = "openai-responses",
    **endpoint: Any,
) -> ResponsesProvider:
    known = ProviderSettings().endpoint(name)
    values = {**(known.model_dump() if known else {"base_url": "https://models.example/v1"}), **endpoint}
    return ResponsesProvider(
        name,
        Endpoint.model_validate(values),
        key=KEY,
        settings=settings,
        environ=environ,
        transport=httpx.MockTransport(handler),
    )


async def pieces_of(provider: ResponsesProvider, request: ModelRequest | None = None) -> list[Piece]:
    request = request or asking(model=f"{provider.name}:gpt-5-mini")
    async with aclosing(provider.stream(request)) as pieces:
        found = [piece async for piece in pieces]
    await provider.close()
    return found


async def answer(
    handler: Handler, *, name: str = "openai-responses", request: ModelRequest | None = None, **endpoint: Any
) -> AssistantMessage:
    """The message that the adapter makes of what ``handler`` replies."""
    return assembled(await pieces_of(serving(handler, name=name, **endpoint), request), f"{name}:gpt-5-mini")
