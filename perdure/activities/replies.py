"""Replies of bounded size: what a model wrote must fit one payload, or the run could not go on.

The server takes no payload over 2 MB, and the activity's result would be refused after the model was paid. Nothing is
cut silently: a cut text says so, and a call whose arguments are too large is kept without them, so that it settles with
feedback instead of running on half of them.
"""

from __future__ import annotations

from perdure.brain.results import ARGUMENT_BYTES
from perdure.contracts.messages import AssistantMessage, AssistantPart, CallPart, TextPart

REPLY_BYTES = 1_500 * 1024
"""Bytes of a reply's JSON at most."""

KEPT_ARGUMENTS = 1_000
"""Characters that remain of arguments that are too large: enough to see what they were about."""


def bounded_reply(message: AssistantMessage) -> AssistantMessage:
    """The message as it is, or with its oversize parts cut so that it can be recorded."""
    if _size(message) <= ARGUMENT_BYTES:
        return message
    parts = tuple(_without_large_arguments(part) for part in message.parts)
    message = message.model_copy(update={"parts": parts})
    if _size(message) > REPLY_BYTES:
        message = message.model_copy(update={"parts": tuple(map(_without_image, parts))})
    excess = _size(message) - REPLY_BYTES
    return message if excess <= 0 else _shortened(message, excess)


def _without_large_arguments(part: AssistantPart) -> AssistantPart:
    if not isinstance(part, CallPart):
        return part
    size = len(part.arguments_text.encode("utf-8", "surrogatepass"))
    if size <= ARGUMENT_BYTES:
        return part
    note = f"{part.arguments_text[:KEPT_ARGUMENTS]} … [{size} bytes of arguments, at most {ARGUMENT_BYTES}]"
    return part.model_copy(update={"arguments": None, "arguments_text": note})


def _without_image(part: AssistantPart) -> AssistantPart:
    if part.kind != "image" or part.data is None:
        return part
    return TextPart(text=f"[An image of {len(part.data)} bytes ({part.media_type}), more than a run can record.]")


def _shortened(message: AssistantMessage, excess: int) -> AssistantMessage:
    """The message with its longest text cut by ``excess`` bytes and a note where it ends."""
    texts = [index for index, part in enumerate(message.parts) if part.kind in ("text", "reasoning")]
    if not texts:
        return message
    longest = max(texts, key=lambda index: len(getattr(message.parts[index], "text", "")))
    part = message.parts[longest]
    assert part.kind in ("text", "reasoning")
    note = f"\n[… cut: the model wrote {len(part.text)} characters, more than a run can record]"
    written = part.text.encode("utf-8", "replace")
    kept = len(written) - excess - len(note.encode())
    while kept > 0:
        text = written[:kept].decode("utf-8", "ignore") + note
        cut = part.model_copy(update={"text": text, "opaque": None})
        parts = (*message.parts[:longest], cut, *message.parts[longest + 1 :])
        shorter = message.model_copy(update={"parts": parts})
        over = _size(shorter) - REPLY_BYTES
        if over <= 0:
            return shorter
        kept -= over
    return message


def _size(message: AssistantMessage) -> int:
    return len(message.model_dump_json().encode("utf-8", "surrogatepass"))
