"""What a tool returned or raised, as the one bounded text (and data) that the model reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pydantic_core
from pydantic import JsonValue

from perdure.contracts.errors import ToolError
from perdure.contracts.failures import bounded
from perdure.contracts.tools import ToolOutput

MOST_BYTES = 64 * 1024
"""UTF-8 bytes of a result at most, its note on what was left out included."""

SHOWN_BYTES = 48 * 1024
"""Bytes of a file, a folder or a page that a tool shows at most: what it says of the rest must fit the result too."""

NOTHING = "(no result)"


def output_of(tool: str, value: Any) -> ToolOutput:
    """``value`` as a tool's output: text as it is, data as JSON text and data, bytes described, nothing said so.

    A value that has no JSON form makes an error output; more than `MOST_BYTES` is cut with a note.
    """
    match value:
        case ToolOutput():
            return _cut(value)
        case str():
            return _cut(ToolOutput(text=value))
        case None:
            return ToolOutput(text=NOTHING)
        case bytes() | bytearray() | memoryview():
            return ToolOutput(text=f"(binary data, {len(bytes(value)):,} bytes: it has no text form)")
        case _:
            return _structured(tool, value)


def failed_output(tool: str, error: BaseException) -> ToolOutput:
    """An exception of a tool as an error output: a `ToolError`'s own words, else one sentence; never a traceback."""
    match error:
        case ToolError():
            return _cut(ToolOutput(status="error", text=str(error)))
        case asyncio.CancelledError():
            return ToolOutput(status="error", text=f"{tool} failed: something that it waited for was cancelled.")
        case _:
            said = " ".join(str(error).split())
            name = type(error).__name__
            return ToolOutput(
                status="error", text=_readable(bounded(f"{tool} failed: {name}{f': {said}' * bool(said)}"))
            )


def cut_text(text: str, most_bytes: int, whole_bytes: int | None = None) -> str:
    """``text`` in at most ``most_bytes`` of UTF-8, cut at a character's border, with a note on how much was left out.

    ``whole_bytes`` is the size of the whole when ``text`` is only the part of it that was read.
    """
    raw = text.encode()
    whole = len(raw) if whole_bytes is None else whole_bytes
    if whole <= most_bytes:
        return text
    room = most_bytes - len(_note(whole, whole).encode())
    kept = raw[:room].decode(errors="ignore")
    return kept + _note(whole - len(kept.encode()), whole)


def _note(left_out: int, whole: int) -> str:
    return f"\n[Cut: {left_out:,} of {whole:,} bytes are left out. Ask for a part to see more.]"


def _structured(tool: str, value: Any) -> ToolOutput:
    try:
        # JSON has no NaN and no infinity: they become words.
        data: JsonValue = json.loads(json.dumps(pydantic_core.to_jsonable_python(value)), parse_constant=str)
        text = json.dumps(data, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        return ToolOutput(
            status="error",
            text=bounded(f"{tool} returned a {type(value).__name__}, which has no JSON form ({reason})."),
        )
    return _cut(ToolOutput(text=text, data=data))


def _cut(output: ToolOutput) -> ToolOutput:
    text, data = _readable(output.text), output.data
    if data is not None:
        written = _readable(json.dumps(data, ensure_ascii=False))
        # Half of a data structure is no data structure: beyond the limit the text alone says what there is.
        text, data = text or written, json.loads(written) if len(written.encode()) <= MOST_BYTES else None
    return output.model_copy(update={"text": cut_text(text, MOST_BYTES), "data": data})


def _readable(text: str) -> str:
    # A lone surrogate (a file name that is not UTF-8, for one) cannot be encoded, so the result could not be recorded.
    return text.encode(errors="replace").decode()
