"""Digests: what a call's arguments, an agent or a transcript is recognised by."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel

START = ""
"""The transcript digest of a run without messages."""


def digest_of(value: Any) -> str:
    """SHA-256 (hex, 32 digits) over the canonical JSON of ``value``: sorted keys, no blanks, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def extend_digest(digest: str, message: BaseModel) -> str:
    """The digest of a transcript after ``message`` was appended to one whose digest was ``digest``.

    A chain: a reader who holds the first messages verifies the rest without fetching the first again.
    """
    return hashlib.sha256((digest + message.model_dump_json()).encode("utf-8", "surrogatepass")).hexdigest()[:32]
