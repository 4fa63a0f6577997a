"""The YAML head of a Markdown file, with the place of every key and value, so that a mistake can be pointed at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

FENCE = "---"
DEEPEST = 20
MOST_CHARACTERS = 32 * 1024
"""Of a head: the parser takes seconds for more, and nobody writes that much by hand."""

Key = str | int
Place = tuple[int, int]


class PlacedError(Exception):
    """What is wrong at a place of a file; it becomes a problem of that file, and never leaves this room."""

    def __init__(self, place: Place, said: str) -> None:
        super().__init__(said)
        self.place = place


@dataclass(frozen=True, slots=True)
class Head:
    """What the head says, where each of its keys and values stands (line and column from 1), and the text below it.

    A place is looked up by the path that leads to a value: ``("limits", "steps")``, ``("tools", 2)``.
    """

    values: dict[str, Any]
    body: str
    key_places: dict[tuple[Key, ...], Place] = field(default_factory=dict)
    value_places: dict[tuple[Key, ...], Place] = field(default_factory=dict)

    def place(self, path: tuple[Key, ...]) -> Place:
        """Where the value stands, or the nearest thing around it that has a place."""
        while path and path not in self.value_places:
            path = path[:-1]
        return self.value_places.get(path, (1, 1))


def read_head(text: str) -> Head:
    """The head and the body of ``text``; a text that does not start with ``---`` has no head.

    Raises `PlacedError` with line and column for a head that is not closed, is no YAML, is no mapping, or has a key
    twice.
    """
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != FENCE:
        return Head({}, text.strip())
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise PlacedError((1, 1), f"The head that starts here is never closed: end it with a line {FENCE}.")
    body = "".join(lines[end + 1 :]).strip()
    source = "".join(lines[1:end])
    if len(source) > MOST_CHARACTERS:
        raise PlacedError(
            (1, 1), f"The head is longer than {MOST_CHARACTERS:,} characters: the prompt belongs below it."
        )
    try:
        _check(source)
        node = yaml.compose(source, Loader=yaml.SafeLoader)
        values = yaml.safe_load(source)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 2, mark.column + 1) if mark else (1, 1)
        raise PlacedError(place, f"This is no valid YAML: {error.problem or error.context}.") from None
    except (yaml.YAMLError, ValueError) as error:
        raise PlacedError((1, 1), f"The head is no valid YAML: {' '.join(str(error).split())}.") from None
    if node is None:
        return Head({}, body)
    if not isinstance(node, yaml.MappingNode):
        raise PlacedError(_place(node), "The head must be lines of `key: value`.")
    head = Head(values, body)
    _visit(node, (), head)
    return head


def _check(source: str) -> None:
    # A few aliases of aliases unfold to more than memory holds, and the parser's time grows with the square of depth.
    depth = 0
    for event in yaml.parse(source, Loader=yaml.SafeLoader):
        match event:
            case yaml.AliasEvent():
                raise PlacedError(_place(event), "Aliases (*name) cannot be used: write the value out.")
            case yaml.CollectionStartEvent():
                depth += 1
            case yaml.CollectionEndEvent():
                depth -= 1
            case _:
                continue
        if depth > DEEPEST:
            raise PlacedError(_place(event), "This is nested too deeply.")


def _place(node: yaml.Node | yaml.Event) -> Place:
    # The fence is the file's first line, and marks count from 0.
    mark = node.start_mark
    return (mark.line + 2, mark.column + 1) if mark else (1, 1)


def _visit(node: yaml.Node, path: tuple[Key, ...], head: Head) -> None:
    head.value_places[path] = _place(node)
    match node:
        case yaml.MappingNode():
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise PlacedError(_place(key), "A key must be a plain word.")
                inner = (*path, key.value)
                if inner in head.key_places:
                    raise PlacedError(_place(key), f"The key {key.value!r} is there twice.")
                head.key_places[inner] = _place(key)
                _visit(value, inner, head)
        case yaml.SequenceNode():
            for position, item in enumerate(node.value):
                _visit(item, (*path, position), head)
        case _:
            return
