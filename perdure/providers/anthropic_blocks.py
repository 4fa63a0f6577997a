"""One content block of a reply in Anthropic's protocol, as it grows, and the pieces that it gives on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import JsonValue

from perdure.contracts.messages import Opaque
from perdure.providers.lenient import Json, a_list, a_text, an_object, loads
from perdure.providers.stream import CallPiece, HostedPiece, Piece, ReasoningPiece, TextPiece
from perdure.providers.surrogates import SurrogateJoiner

MOST_SHOWN = 2_000
"""Characters at most that a person is shown of what the provider did by itself."""


class OpenBlock:
    """A block between its start and its stop. ``content`` is the block so far, and the whole block after `end`."""

    def __init__(self, content: Json, origin: str, position: int) -> None:
        """``position`` is the place of the block among the answer's calls, if it is one."""
        self.kind = a_text(content.get("type"))
        self.content: Json = dict(content)
        self._origin = origin
        self._position = position
        self._arguments: list[str] = []
        self._prose: list[str] = []
        self._joiner = SurrogateJoiner()
        self._sealed = False

    def begin(self) -> Iterator[Piece]:
        """What the start of the block gives."""
        match self.kind:
            case "text" | "thinking":
                yield from self._more(a_text(self.content.get(self.kind)))
            case "tool_use":
                others = self._others("id", "name", "input")
                yield CallPiece(
                    self._position,
                    id=a_text(self.content.get("id")),
                    name=a_text(self.content.get("name")),
                    opaque=self._opaque(others) if others else None,
                )
            case _:
                pass

    def add(self, delta: Json) -> Iterator[Piece]:
        """What one delta gives. Kinds that are not known here grow by their fields: text by text, the rest anew."""
        match a_text(delta.get("type")):
            case "text_delta" if self.kind == "text":
                yield from self._more(a_text(delta.get("text")))
            case "thinking_delta" if self.kind == "thinking":
                yield from self._more(a_text(delta.get("thinking")))
            case "input_json_delta":
                text = a_text(delta.get("partial_json"))
                self._arguments.append(text)
                if text and self.kind == "tool_use":
                    yield CallPiece(self._position, arguments=text)
            case "citations_delta":
                self.content["citations"] = [*a_list(self.content.get("citations")), delta.get("citation")]
            case "signature_delta":
                self.content["signature"] = a_text(self.content.get("signature")) + a_text(delta.get("signature"))
            case _:
                for key, value in delta.items():
                    before = self.content.get(key)
                    if key in ("content", "text") and isinstance(before, str) and isinstance(value, str):
                        self.content[key] = before + value
                    elif key != "type":
                        self.content[key] = value

    def end(self) -> Iterator[Piece]:
        """What the stop of the block gives."""
        if rest := self._joiner.end():
            yield self._piece(rest)
        if self.kind in ("text", "thinking"):
            self.content[self.kind] = "".join(self._prose)
        match self.kind:
            case "text":
                if others := self._others("text"):
                    self._sealed = True
                    yield TextPiece("", self._opaque(others))
            case "thinking":
                yield ReasoningPiece("", self._opaque({"type": "thinking", **self._others("thinking", empty=True)}))
            case "redacted_thinking":
                yield ReasoningPiece("", self._opaque(self.content))
            case "tool_use":
                given = self.content.get("input")
                if not "".join(self._arguments) and given:
                    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
                    yield CallPiece(self._position, arguments=text)
                self._take_input()
            case _:
                self._take_input()
                yield HostedPiece(
                    tool=self.kind or "block",
                    name=a_text(self.content.get("name")),
                    text=shown(self.content),
                    opaque=self._opaque(self.content),
                )

    def parted(self) -> Iterator[Piece]:
        """What keeps this block apart from a text block that follows it."""
        if self.kind == "text" and self._prose and not self._sealed:
            self._sealed = True
            yield TextPiece("", self._opaque({}))

    def _more(self, text: str) -> Iterator[Piece]:
        if joined := self._joiner.feed(text):
            yield self._piece(joined)

    def _piece(self, text: str) -> Piece:
        self._prose.append(text)
        return ReasoningPiece(text) if self.kind == "thinking" else TextPiece(text)

    def _take_input(self) -> None:
        if text := "".join(self._arguments).strip():
            try:
                self.content["input"] = loads(text)
            except ValueError:
                self.content["input"] = {"invalid_json": text}

    def _others(self, *known: str, empty: bool = False) -> Json:
        """The fields beside those that our parts have a place for; ``empty``: also those that say nothing."""
        return {key: value for key, value in self.content.items() if key not in ("type", *known) and (value or empty)}

    def _opaque(self, data: Json) -> Opaque:
        return Opaque(origin=self._origin, data=data)


def shown(block: Json) -> str:
    """What a person may read of a block that the provider made by itself: what it was asked, or what it found."""
    if given := an_object(block.get("input")):
        said = [json.dumps(given, ensure_ascii=False)]
    else:
        said = [*_sayings(block.get("content"))]
    text = "\n".join(line for line in said if line.strip())
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _sayings(content: JsonValue) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for entry in a_list(content):
        yield from _sayings(entry)
    entry = an_object(content)
    yield " ".join(word for key in ("title", "url", "tool_name", "error_code") if (word := a_text(entry.get(key))))
    for key in ("text", "stdout", "stderr"):
        yield a_text(entry.get(key))
    if isinstance(entry.get("content"), list | dict):
        yield from _sayings(entry.get("content"))
