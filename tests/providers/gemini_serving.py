"""What a server of Gemini's protocol says."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from tests.providers.serving import answer as answer_any
from tests.providers.serving import serving as serving_any

MODEL = "gemini:gemini-3-pro"


def text(said: str, **beside: object) -> dict[str, Any]:
    return {"text": said, **beside}


def called(name: str, arguments: object, call_id: str = "", **beside: object) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": arguments, **({"id": call_id} if call_id else {})}, **beside}


def chunk(*parts: object, finish: str = "", usage: object = None, **candidate: object) -> dict[str, Any]:
    """One chunk as Google writes it: a candidate with these parts."""
    ended = {"finishReason": finish} if finish else {}
    content = {"parts": list(parts), "role": "model"}
    counted = {"usageMetadata": usage} if usage else {}
    return {"candidates": [{"content": content, "index": 0, **ended, **candidate}], "responseId": "r-1", **counted}


def events(*values: object) -> bytes:
    return "".join(f"data: {json.dumps(value)}\r\n\r\n" for value in values).encode()


serving = partial(serving_any, name="gemini")
answer = partial(answer_any, name="gemini", model="gemini-3-pro")
