"""Arguments as text: what argument rules compare, and what a grant of the very same arguments holds."""

from __future__ import annotations

import json

from pydantic import JsonValue


def argument_text(value: JsonValue) -> str:
    """A text as it is; anything else as canonical JSON (sorted keys, no blanks)."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
