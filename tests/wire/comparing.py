"""How requests of ours are compared with recorded ones, and with what the documentation tells of the difference."""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.adapter import Decoder
from perdure.providers.lenient import loads
from perdure.providers.payloads import Payload
from perdure.providers.sse import SseReader
from perdure.providers.stream import Assembler
from tests.wire.recordings import Exchange

DOCUMENT = Path(__file__).parents[2] / "docs" / "providers-wire.md"

Json = dict[str, Any]
Ways = Mapping[str, Callable[[Json, Json], None]]
"""How a request of ours may differ from the recorded one. What each one means stands in docs/providers-wire.md."""


def explained(theirs: Json, ours: Json, ways: Ways) -> list[str] | None:
    """The names of the ways in which a request of ours differs from the recorded one; None when they do not suffice."""
    used: list[str] = []
    for name, rewrite in ways.items():
        if theirs == ours:
            break
        before = copy.deepcopy(theirs)
        rewrite(theirs, ours)
        if theirs != before:
            used.append(name)
    return used if theirs == ours else None


def told(section: str) -> dict[str, int]:
    """The ways that a section of the documentation tells, with their counts."""
    text = DOCUMENT.read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    return {name: int(count) for name, count in re.findall(r"^\| ([a-z-]+) \| (\d+) \|", text, re.MULTILINE)}


def provider_counts(title: str) -> tuple[int, ...]:
    """What the documentation counts of a provider: replies decoded, errors, requests, agree, explained, failed."""
    return _row(title, 6)


def capture_counts(title: str) -> tuple[int, ...]:
    """What it counts of a protocol's captures: whole replies, error replies, errors inside of a reply."""
    return _row(title, 3)


def _row(title: str, columns: int) -> tuple[int, ...]:
    rows = re.findall(rf"^\| {re.escape(title)} \| (.+) \|$", DOCUMENT.read_text(), re.MULTILINE)
    cells = next(cells for row in rows if len(cells := row.split(" | ")) == columns)
    counts = [{int(number) for number in cell.replace("–", "0").split(" of ")} for cell in cells]
    assert all(len(count) == 1 for count in counts), f"{title}: something is not decoded"
    return tuple(count.pop() for count in counts)


def by_recording(exchanges: Iterable[Exchange]) -> Iterable[list[Exchange]]:
    """The exchanges of each recording, in order."""
    groups: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        groups[exchange.name.rpartition("-")[0]].append(exchange)
    return groups.values()


class Conversation(Protocol):
    """The requests of one recording, in order; ``said`` are the replies so far, ``replayed`` counts those sent back."""

    said: list[AssistantMessage]
    replayed: int

    def request(self, recorded: Json) -> ModelRequest:
        """The recorded request as one of ours."""
        ...


def conversations(
    exchanges: Iterable[Exchange],
    begin: Callable[[], Conversation],
    decoded: Callable[[Exchange, str], AssistantMessage],
) -> Iterator[tuple[Exchange, ModelRequest, int]]:
    """Every recorded request as one of ours, with how many of its assistant messages are decoded replies."""
    for group in by_recording(exchanges):
        conversation = begin()
        for exchange in group:
            before = conversation.replayed
            yield exchange, conversation.request(exchange.request), conversation.replayed - before
            if exchange.status == 200:
                conversation.said.append(decoded(exchange, f"t1s{len(conversation.said) + 1}"))


def feed(assembler: Assembler, decoder: Decoder, body: bytes) -> None:
    """Let the decoder read a whole body. Raises the ProviderError that is in it."""
    for value in values_of(body):
        for piece in decoder.feed(Payload("", value)):
            assembler.add(piece)
    for piece in decoder.end():
        assembler.add(piece)


def values_of(body: bytes) -> list[Any]:
    """The JSON values of a reply, streamed or whole."""
    if body.lstrip().startswith(b"{"):
        return [loads(body)]
    reader = SseReader()
    events = (*reader.feed(body), *reader.end())
    return [loads(event.data) for event in events if event.data.startswith("{")]
