"""Server-sent events, read from bytes as they come, however they were cut.

Why not ``httpx-sse``: it reads text that httpx decoded by the reply's declared charset, insists on a content type that
servers get wrong, loses a last event without a blank line after it, and gives an empty event for a comment after an
``id``. Here lines end at \\n, \\r\\n or \\r alone (never at U+2028 or U+0085, which may stand inside JSON), and only
whole lines are decoded, so that no character is ever cut.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_EVENT = 64 * 1024 * 1024
"""Bytes of one event at most: a line that never ends must not fill the memory."""

_FIELDS = frozenset({"", "data", "event", "id", "retry"})
"""What a line may begin with, ahead of its colon: nothing in a comment."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its ``event`` name, empty when it has none, and its ``data`` lines joined by \\n."""

    event: str
    data: str


class OversizeEventError(ValueError):
    """An event is larger than `MAX_EVENT`."""


class SseReader:
    """Turns chunks of bytes into events; comments, ids and events with neither name nor data are left out."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._first = True
        self._event = ""
        self._data: list[str] = []
        self.spoken = False
        """Whether any line so far was one of an event stream, be it a comment."""

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that ``chunk`` completes. Raises OversizeEventError."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        head, *lines = chunk.split(b"\n")
        self._size += len(chunk)
        if self._size > MAX_EVENT:
            raise OversizeEventError(f"an event of more than {MAX_EVENT} bytes")
        self._line.append(head)
        if not lines:
            return []
        lines.insert(0, b"".join(self._line))
        self._line = [lines.pop()]
        return [event for line in lines if (event := self._take(line))]

    def end(self) -> list[SseEvent]:
        """The event that the end of the stream completes: many servers leave out the last blank line."""
        rest, self._line = b"".join(self._line), []
        return [event for line in (rest, b"") if (event := self._take(line))]

    def _take(self, line: bytes) -> SseEvent | None:
        if self._first:
            self._first = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        self.spoken = self.spoken or name in _FIELDS
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        return None

    def _dispatch(self) -> SseEvent | None:
        event, data = self._event, "\n".join(self._data)
        self._event, self._data, self._size = "", [], sum(map(len, self._line))
        return SseEvent(event, data) if event or data else None
