"""The names of tools as servers take them, and the way back from them to ours."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest

_LENGTH = 64
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


class ToolNames:
    """Tool names as the server takes them (letters, digits, ``_`` and ``-``, 64 at most), and back to ours.

    With ``letter_first`` they begin with a letter or ``_``, which Gemini demands.
    """

    def __init__(self, names: Iterable[str], *, letter_first: bool = False) -> None:
        self._letter_first = letter_first
        self._sent: dict[str, str] = {}
        self._ours: dict[str, str] = {}
        # Names that need no change are settled first, so that no changed one takes their place.
        for name in sorted(dict.fromkeys(names), key=lambda name: self._legal(name) != name):
            sent = self._legal(name)
            if sent in self._ours:
                sent = f"{sent[: _LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
            self._sent[name], self._ours[sent] = sent, name

    def sent(self, name: str) -> str:
        """The name that the server is told."""
        return self._sent.get(name) or self._legal(name)

    def ours(self, name: str) -> str:
        """The name that a server's name stands for; a name that we never told it stays as it is."""
        return self._ours.get(name, name)

    def _legal(self, name: str) -> str:
        legal = _ILLEGAL.sub("_", name) or "_"
        if self._letter_first and not (legal[0].isalpha() or legal[0] == "_"):
            legal = f"_{legal}"
        if len(legal) <= _LENGTH:
            return legal
        return f"{legal[: _LENGTH - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def tool_names(request: ModelRequest, *, letter_first: bool = False) -> ToolNames:
    """The names of the tools that a request offers or remembers."""
    return ToolNames((*(tool.name for tool in request.tools), *called_tools(request)), letter_first=letter_first)


def called_tools(request: ModelRequest) -> tuple[str, ...]:
    """The tools that a request remembers: those that the model has called so far, each once."""
    messages = (message for message in request.messages if isinstance(message, AssistantMessage))
    return tuple(dict.fromkeys(call.tool for message in messages for call in message.calls))
