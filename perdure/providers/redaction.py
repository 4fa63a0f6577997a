"""What a server says, without what must not be told again: servers like to quote requests back, keys and bodies too.

Trap: a text that is cut before it is searched may keep half of a secret, which nobody finds any more. So an error's
body is redacted as a whole, ahead of everything else, and its words once more when they become a message.
"""

from __future__ import annotations

import re
from typing import Any

_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk)[-_]|(?:gsk|ghp|gho|hf)_|xai-|AKIA|AIza)[\w-]{16,}"
    r"|(?<=(?i:bearer) )(?=\S*\d)[\w.~+/=-]{16,}"
)
"""What has the form of a key. It need not be ours: whoever set another one reads it in the error, as does every log."""

_LONG_RUN = re.compile(r"[A-Za-z0-9+/=_-]{120,}")


def scrubbed(text: str, secrets: tuple[str, ...]) -> str:
    """``text`` without the secrets, without what looks like any other key, and without long runs of base64."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    return _LONG_RUN.sub("[…]", _KEY.sub("[key]", text))


def redacted(body: Any, secrets: tuple[str, ...]) -> Any:
    """A body, or the JSON value of one, with every text in it `scrubbed`."""
    match body:
        case bytes():
            return scrubbed(body.decode("utf-8", "replace"), secrets).encode()
        case str():
            return scrubbed(body, secrets)
        case list():
            return [redacted(entry, secrets) for entry in body]
        case dict():
            return {key: redacted(value, secrets) for key, value in body.items()}
        case _:
            return body
