"""Which tool call a streamed piece belongs to: every server of the chat protocol numbers them its own way.

Seen in the wild: an index each (OpenAI); index 0 for all, told apart by id (Ollama); no index; no id; the name in every
piece; the name late or empty; whole calls in one piece; arguments as an object instead of text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from perdure.contracts.messages import Opaque
from perdure.providers.lenient import a_list, a_text, an_object, loads
from perdure.providers.stream import CallPiece


@dataclass(slots=True)
class _OpenCall:
    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def complete(self) -> bool:
        try:
            return isinstance(loads(self.arguments), dict)
        except ValueError:
            return False


class CallSorter:
    """Gives each call of one answer its own index, in the order in which the calls began."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._calls: list[_OpenCall] = []
        self._by_index: dict[int, int] = {}

    @property
    def nameless(self) -> bool:
        """Whether some call has no name yet."""
        return any(not call.name for call in self._calls)

    def __len__(self) -> int:
        return len(self._calls)

    def pieces(self, tool_calls: JsonValue, *, whole: bool = False) -> Iterator[CallPiece]:
        """The pieces in a ``tool_calls`` list; ``whole`` says that each entry is a call of its own."""
        for entry in a_list(tool_calls):
            piece = an_object(entry)
            function = an_object(piece.get("function"))
            call_id, name = a_text(piece.get("id")), a_text(function.get("name"))
            arguments = _arguments_text(function.get("arguments"))
            index = piece.get("index")
            position = None if whole else self._position(index, call_id, name, arguments)
            if position is None:
                position = len(self._calls)
                self._calls.append(_OpenCall())
            if isinstance(index, int):
                self._by_index[index] = position
            call = self._calls[position]
            call.id, call.name = call.id or call_id, call.name or name
            call.arguments += arguments
            extra = piece.get("extra_content")
            opaque = Opaque(origin=self._origin, data={"extra_content": extra}) if extra else None
            yield CallPiece(position, id=call_id, name=name, arguments=arguments, opaque=opaque)

    def _position(self, index: JsonValue, call_id: str, name: str, arguments: str) -> int | None:
        """The call that a piece continues; None when it begins a new one."""
        if isinstance(index, int):
            position = self._by_index.get(index)
        elif call_id:
            position = next((place for place, call in enumerate(self._calls) if call.id == call_id), None)
        else:
            position = len(self._calls) - 1 if self._calls else None
        if position is None:
            return None
        call = self._calls[position]
        if call_id and call.id and call_id != call.id:
            return None
        if name and call.name and name != call.name and not call_id:
            return None
        # A name again, and arguments after complete ones: another call to the same tool that reuses index and id.
        return None if name and arguments and call.name and call.complete else position


def _arguments_text(arguments: JsonValue) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
