"""What each model can do, as one table says it and the settings may say it otherwise.

There are three answers. Where the table says that a model has something, it is used; where it says that the model lacks
it, a request that needs it is refused before it is sent; and where nobody has said anything, which is so of every model
that the table does not know, what users put into a request is sent, and what is only a better way is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from perdure.providers.capability_table import TABLE
from perdure.providers.patterns import fitting

Capability = Literal[
    "tools",
    "images",
    "audio",
    "files",
    "temperature",
    "reasoning",
    "schema",
    "schema_with_tools",
    "web_search",
    "code_execution",
    "mcp",
    "hosted_with_tools",
    "chat",
    "embeddings",
    "image_output",
    "speech",
    "transcription",
    "video_output",
]
"""What a model may have. ``images``, ``audio`` and ``files`` are taken as input. ``schema``: it can be held to a JSON
Schema, ``schema_with_tools`` also while it is offered tools. ``web_search``, ``code_execution`` and ``mcp``: its
provider runs them by itself, ``hosted_with_tools`` also beside tools of ours. The last six are kinds of answers."""

CAPABILITIES: tuple[Capability, ...] = get_args(Capability)

MADE: frozenset[Capability] = frozenset({"embeddings", "image_output", "speech", "transcription", "video_output"})
"""What is made beside conversations."""

SAID: Mapping[Capability, str] = {
    "tools": "tools",
    "images": "images as input",
    "audio": "audio as input",
    "files": "files as input",
    "temperature": "a temperature",
    "reasoning": "reasoning",
    "schema": "answers held to a schema",
    "schema_with_tools": "answers held to a schema beside tools",
    "web_search": "web_search by its provider",
    "code_execution": "code_execution by its provider",
    "mcp": "MCP servers called by its provider",
    "hosted_with_tools": "tools of its provider beside tools of ours",
    "chat": "conversation",
    "embeddings": "embeddings",
    "image_output": "making images",
    "speech": "making speech",
    "transcription": "transcription",
    "video_output": "making videos",
}
"""Each as a person reads it."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What is known of one model: what it ``has`` and what it ``lacks``; of the rest nobody has said anything."""

    has: frozenset[Capability] = frozenset()
    lacks: frozenset[Capability] = frozenset()


def read_capabilities(words: str) -> Capabilities:
    """The capabilities in a line such as ``tools images -audio``. Raises ValueError for a word that is none."""
    has: set[Capability] = set()
    lacks: set[Capability] = set()
    for word in words.split():
        name = next((known for known in CAPABILITIES if known == word.removeprefix("-")), None)
        if name is None:
            raise ValueError(f"there is no capability {word.removeprefix('-')!r}; known: {', '.join(CAPABILITIES)}")
        (lacks if word.startswith("-") else has).add(name)
    if both := sorted(has & lacks):
        raise ValueError(f"{both[0]} is both given and taken")
    return Capabilities(frozenset(has), frozenset(lacks))


def capabilities_of(model: str, overrides: Mapping[str, str] | None = None) -> Capabilities:
    """What is known of ``model`` (``provider:model``). The first row that speaks of a capability counts.

    ``overrides`` are the settings' own rows, pattern to words, which come before the table's. An exact name comes
    before patterns. A model that is known for tools, or for something that it makes, makes nothing else than is said.
    """
    has: set[Capability] = set()
    lacks: set[Capability] = set()
    for rows in (overrides or {}, TABLE):
        for pattern in fitting(model, rows):
            row = read_capabilities(rows[pattern])
            has |= row.has - lacks
            lacks |= row.lacks - has
    if has & {*MADE, "tools"}:
        lacks |= MADE - has
    return Capabilities(frozenset(has), frozenset(lacks))


def patterns_with(capability: Capability, overrides: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The models that are said to have ``capability``, as the patterns under which it is said."""
    rows = [*(overrides or {}).items(), *TABLE.items()]
    return tuple(dict.fromkeys(pattern for pattern, words in rows if capability in read_capabilities(words).has))
