"""Keys in results and logs: what tools return and what is logged must not show the worker's own secrets.

Only values that are known to be secret are hidden, wherever they stand. What merely looks like a key is left alone: a
tool may well be about such text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import JsonValue

from perdure.contracts.tools import ToolOutput

HIDDEN = "[hidden]"


class KnownSecrets:
    """Hides ``secrets`` in texts and in what tools return."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        longest_first = sorted(filter(None, secrets), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def hide(self, output: ToolOutput) -> ToolOutput:
        """The output without any of the secrets."""
        if self._known is None:
            return output
        return output.model_copy(update={"text": self.text(output.text), "data": self._value(output.data)})

    def text(self, text: str) -> str:
        """``text`` without any of the secrets."""
        return text if self._known is None else self._known.sub(HIDDEN, text)

    def _value(self, value: JsonValue) -> JsonValue:
        match value:
            case str():
                return self.text(value)
            case list():
                return [self._value(item) for item in value]
            case dict():
                return {self.text(name): self._value(item) for name, item in value.items()}
            case _:
                return value
