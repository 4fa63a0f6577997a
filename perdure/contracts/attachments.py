"""Attachments: what a part of a message must be so that it can be sent, whoever made it.

Bytes travel inside the message and stand in the history once, so their size is bounded; larger things go by address.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import UserPart
from perdure.contracts.urls import unusable

ATTACHMENT_BYTES = 1024 * 1024
"""Bytes of one attachment at most: the server takes no message over 2 MB, and JSON makes four thirds of bytes."""

_MEDIA_TYPE = re.compile(r"[A-Za-z0-9][\w!#$&^.+-]*/[A-Za-z0-9][\w!#$&^.+-]*(\s*;[ -~]*)?")
_TEXT_TYPES = re.compile(r"text/.*|application/(?:json|xml|yaml|x-yaml|toml)")


def check_attachments(parts: tuple[UserPart, ...]) -> None:
    """Raise InvalidInputError for parts that cannot be sent."""
    for number, part in enumerate(parts, 1):
        if fault := attachment_fault(part):
            raise InvalidInputError(f"Attachment {number} cannot be sent: {fault}.")


def attachment_fault(part: UserPart) -> str:
    """Why ``part`` cannot be sent, as the rest of a sentence; empty when it can."""
    if part.kind == "text":
        return ""
    if not _MEDIA_TYPE.fullmatch(part.media_type):
        return f"{part.media_type[:100]!r} is no media type, such as image/png"
    if (part.data is None) == (part.url is None):
        return "it needs either data or a url, and not both"
    if part.url is not None:
        return address_fault(part.url)
    data = part.data or b""
    if is_text(part.media_type) and not _is_utf8(data):
        return f"it is no UTF-8, and {part.media_type[:100]} is sent as such. Save it as UTF-8"
    return size_fault(len(data))


def is_text(media_type: str) -> bool:
    """Whether data of this type is sent as what it says, and not as bytes."""
    return _TEXT_TYPES.fullmatch(media_type) is not None


def address_fault(url: str) -> str:
    """Why a provider cannot be sent to ``url``; what is said never repeats it, for it may hold a secret."""
    if fault := unusable(url):
        return f"its address {fault}"
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        return "its address must hold neither a user nor a password: the model's provider gets it"
    return ""


def size_fault(size: int) -> str:
    """Why so many bytes cannot be sent."""
    if not size:
        return "it is empty, so there is nothing to attach"
    if size > ATTACHMENT_BYTES:
        return (
            f"it is too large: {size:,} bytes, at most {ATTACHMENT_BYTES:,}. Attach an address instead, or put the "
            "file into the workspace, where the agent reads it"
        )
    return ""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
