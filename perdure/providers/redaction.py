"""What a server says, without what must not be told again: servers like to quote requests back, keys and bodies too.

Trap: a text that is cut before it is searched may keep half of a secret, which nobody finds any more. So an error's
body is redacted as a whole, ahead of everything else, and its words once more when they become a message.
"""

from __future__ import annotations

import re
from typing import Any

_LONG_RUN = re.compile(r"[A-Za-z0-9+/=_-]{120,}")


def scrubbed(text: str, secrets: tuple[str, ...]) -> str:
    """``text`` without the secrets and without long runs of base64."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[key]")
    return _LONG_RUN.sub("[…]", text)


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
