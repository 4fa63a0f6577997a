"""The output items of one streamed answer, each growing under whatever number or name its server gives it.

Seen in the wild: ``output_index`` on every event (OpenAI); none, ids alone (llama.cpp); another id on every event
(gateways). So a known id counts first, then the index, then the order. What came whole counts more than its pieces.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from pydantic import JsonValue

from perdure.providers.lenient import Json, a_list, a_text, an_object
from perdure.providers.openai_responses_items import said_in, thought_in
from perdure.providers.surrogates import SurrogateJoiner


class Prose:
    """Text that comes in pieces and at last as a whole."""

    def __init__(self) -> None:
        self._given: list[str] = []
        self._held = ""
        self._joiner = SurrogateJoiner()

    def add(self, text: str) -> None:
        """Take in a piece."""
        self._held += self._joiner.feed(text)

    def take(self) -> str:
        """What has come since the last time."""
        taken, self._held = self._held, ""
        if taken:
            self._given.append(taken)
        return taken

    def settle(self, whole: str) -> bool:
        """Complete the text by what it is as a whole. False when that is another text, but for blanks around it."""
        came = "".join(self._given) + self._held
        joiner = SurrogateJoiner()
        final = joiner.feed(whole) + joiner.end()
        if final.startswith(came):
            self._held += final[len(came) :]
            return True
        self._held += self._joiner.end()
        return not final or final.strip() == came.strip()

    @property
    def begun(self) -> bool:
        """Whether any of it has come."""
        return bool(self._given or self._held)

    @property
    def told(self) -> str:
        """All that was taken so far."""
        return "".join(self._given)


@dataclass(slots=True, eq=False)
class Item:
    """One output item. ``raw`` is the item as it was last sent whole; ``done`` says that it is final."""

    kind: str
    raw: Json
    texts: dict[int, Prose] = field(default_factory=dict)
    refusals: set[int] = field(default_factory=set)
    thought: Prose = field(default_factory=Prose)
    thought_at: tuple[str, int] | None = None
    written: list[str] = field(default_factory=list)
    done: bool = False

    def text(self, index: int) -> Prose:
        """The text of the ``index``-th piece of a message's content."""
        return self.texts.setdefault(index, Prose())

    def think(self, place: tuple[str, int], text: str) -> None:
        """Take in reasoning; another ``place`` begins another paragraph."""
        if self.thought.begun and place != self.thought_at:
            self.thought.add("\n\n")
        self.thought_at = place
        self.thought.add(text)

    @property
    def contents(self) -> list[Json]:
        """The pieces of a message's content; as they were streamed, when the server never sent them whole."""
        sent = [an_object(content) for content in a_list(self.raw.get("content"))]
        return sent or [
            {"type": "refusal", "refusal": ""} if index in self.refusals else {"type": "output_text", "annotations": []}
            for index in sorted(self.texts)
        ]

    @property
    def arguments(self) -> str:
        """A call's arguments: as they were sent whole, else as they were streamed."""
        whole = self.raw.get("arguments")
        if whole is not None and not isinstance(whole, str):
            return json.dumps(whole, ensure_ascii=False)
        return whole or "".join(self.written)

    def settle(self) -> bool:
        """Complete the texts by what was sent whole. False when a message's text turns out to be another one."""
        self.done = True
        if self.kind == "reasoning":
            # A summary may be worded anew at its end: what was shown stays, and the item goes back as it is.
            self.thought.settle(thought_in(self.raw))
        if self.kind != "message":
            return True
        return all(self.text(index).settle(said_in(content)) for index, content in enumerate(self.contents))


class Output:
    """The items of one answer, in the order in which they began."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}

    def announced(self, event: Json) -> Item:
        """The item that an event announces."""
        raw = an_object(event.get("item"))
        known = self._by_id.get(a_text(raw.get("id")))
        return known if known and not known.done else self._opened(raw, event.get("output_index"))

    def pointed_at(self, event: Json, kind: str) -> Item:
        """The item that a piece belongs to; one of ``kind`` begins when there is none."""
        found = self._found(a_text(event.get("item_id")), event.get("output_index"), kind)
        return found or self._opened({"type": kind, "id": event.get("item_id")}, event.get("output_index"))

    def finished(self, event: Json) -> Item:
        """The item that an event calls finished, with what it says of it."""
        raw = an_object(event.get("item"))
        item_id, index = a_text(raw.get("id")) or a_text(event.get("item_id")), event.get("output_index")
        item = self._found(item_id, index, a_text(raw.get("type"))) or self._opened(raw, index)
        if not item.done:
            item.raw = raw
        return item

    def completed(self, output: JsonValue) -> list[Item]:
        """The items that were still open, in order, with what the whole answer says of them, and those it adds."""
        entries = [an_object(entry) for entry in a_list(output)]
        known = [self._by_id.get(a_text(raw.get("id"))) for raw in entries]
        unnamed = [item for item in self.items if not any(item is other for other in known)]
        for raw, named in zip(entries, known, strict=True):
            item = named or next((item for item in unnamed if item.kind == raw.get("type")), None)
            if item is None:
                self._opened(raw, None)
                continue
            if named is None:
                unnamed.remove(item)
            if not item.done:
                item.raw = raw
        return [item for item in self.items if not item.done]

    def _found(self, item_id: str, index: JsonValue, kind: str) -> Item | None:
        found = self._by_id.get(item_id)
        if found is None and isinstance(index, int):
            found = self._by_index.get(index)
        elif found is None:
            found = next((item for item in reversed(self.items) if item.kind == kind and not item.done), None)
        return found if found and found.kind == kind else None

    def _opened(self, raw: Json, index: JsonValue) -> Item:
        item = Item(a_text(raw.get("type")), raw)
        self.items.append(item)
        if item_id := a_text(raw.get("id")):
            self._by_id[item_id] = item
        if isinstance(index, int):
            self._by_index[index] = item
        return item
