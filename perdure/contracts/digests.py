"""Digests: what a call's arguments, an agent or a transcript is recognised by."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from pydantic import BaseModel

from perdure.contracts.brief import DISCRIMINATORS

START = ""
"""The transcript digest of a run without messages."""


def digest_of(value: Any) -> str:
    """SHA-256 (hex, 32 digits) over the canonical JSON of ``value``: sorted keys, no blanks, UTF-8."""
    return hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def extend_digest(digest: str, message: BaseModel) -> str:
    """The digest of a transcript after ``message`` was appended to one whose digest was ``digest``.

    A chain: a reader who holds the first messages verifies the rest without fetching the first again. Fields at their
    default do not count, so that a field that a release adds leaves the digests of running runs as they are.
    """
    return hashlib.sha256((digest + _canonical(_told(message))).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _told(value: Any) -> Any:
    match value:
        case BaseModel():
            fields = type(value).model_fields.items()
            return {
                name: _told(held)
                for name, field in fields
                if (held := getattr(value, name)) != field.default or name in DISCRIMINATORS
            }
        case tuple() | list():
            return [_told(item) for item in value]
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value
