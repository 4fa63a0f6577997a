"""What the encodings of all protocols do alike: ids of calls, arguments, results, and files that are text."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable

from perdure.contracts.messages import AssistantMessage, CallPart, FilePart, ToolMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.lenient import Json


def call_ids(request: ModelRequest, *, fits: Callable[[str], bool] = bool) -> dict[str, str]:
    """The id of each call as it is sent: its provider's own where that made it, is unique and ``fits``, else ours."""
    provider = request.model.partition(":")[0]
    calls = [
        (call, message.model.partition(":")[0] == provider)
        for message in request.messages
        if isinstance(message, AssistantMessage)
        for call in message.calls
    ]
    seen = Counter(call.provider_call_id for call, _ in calls)
    return {
        call.call_id: call.provider_call_id
        if own and seen[call.provider_call_id] == 1 and fits(call.provider_call_id)
        else call.call_id
        for call, own in calls
    }


def arguments_sent(call: CallPart) -> Json:
    """The arguments of an earlier call: an object that quotes them where they were no JSON."""
    return {"invalid_json": call.arguments_text} if call.arguments is None else call.arguments


def arguments_text(call: CallPart) -> str:
    """The same as text, which servers parse again: what the model wrote, to the byte, where that can be parsed."""
    if call.arguments is None:
        return json.dumps(arguments_sent(call), ensure_ascii=False)
    return call.arguments_text if call.arguments_text.strip() else "{}"


def result_text(message: ToolMessage) -> str:
    """A result in words: its text, else its data."""
    return message.text or ("" if message.data is None else json.dumps(message.data))


def file_text(file: FilePart) -> str:
    """A file of text as what is said, under its name."""
    text = (file.data or b"").decode("utf-8", "replace")
    return f"File {file.name or 'without a name'}:\n\n{text}"


def in_base64(data: bytes) -> str:
    """``data`` as JSON can hold it."""
    return base64.b64encode(data).decode("ascii")


def data_url(media_type: str, data: bytes | None) -> str:
    """``data`` as an address that holds it."""
    return f"data:{media_type};base64,{in_base64(data or b'')}"
