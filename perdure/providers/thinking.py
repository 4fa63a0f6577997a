"""Reasoning that a server leaves at the head of the text, between ``<think>`` and ``</think>``, told apart."""

from __future__ import annotations

from typing import Literal

_OPENING = "<think>"
_CLOSING = "</think>"

Share = tuple[Literal["text", "reasoning"], str]


class ThinkTags:
    """Splits streamed text. Only a tag before any other text counts: an answer may speak of the tag later on."""

    def __init__(self) -> None:
        self._held = ""
        self._state: Literal["head", "thinking", "between", "text"] = "head"

    def feed(self, text: str) -> list[Share]:
        """The shares of ``text`` that are settled; what may yet become a tag is held back."""
        if self._state == "text":
            return [("text", text)] if text else []
        self._held += text
        shares: list[Share] = []
        if self._state == "head":
            self._head()
        if self._state == "thinking":
            shares.extend(self._thinking())
        if self._state == "between" and (rest := self._held.lstrip()):
            self._state, self._held = "text", rest
        if self._state == "text" and self._held:
            shares.append(("text", self._held))
            self._held = ""
        return shares

    def end(self) -> list[Share]:
        """What was still held back."""
        held, self._held = self._held, ""
        if not held or self._state == "between":
            return []
        return [("reasoning" if self._state == "thinking" else "text", held)]

    def _head(self) -> None:
        start = self._held.lstrip()
        if start.startswith(_OPENING):
            self._state, self._held = "thinking", start.removeprefix(_OPENING)
        elif not _OPENING.startswith(start):
            self._state = "text"

    def _thinking(self) -> list[Share]:
        thought, closing, rest = self._held.partition(_CLOSING)
        if closing:
            self._state, self._held = "between", rest
        else:
            # The end of what came may be the first half of the closing tag.
            kept = next((size for size in range(len(_CLOSING) - 1, 0, -1) if thought.endswith(_CLOSING[:size])), 0)
            thought, self._held = thought[: len(thought) - kept], thought[len(thought) - kept :]
        return [("reasoning", thought)] if thought else []
