"""What a server of the Responses protocol says."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from tests.providers.serving import answer as answer_any
from tests.providers.serving import serving as serving_any

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


serving = partial(serving_any, name="openai-responses", protocol="openai-responses")
answer = partial(answer_any, name="openai-responses", protocol="openai-responses")
