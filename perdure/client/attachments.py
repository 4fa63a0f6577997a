"""Attachments: a file, an address or bytes as a part of a message.

Bytes travel inside the message and stand in the history once, so their size is bounded; larger things go by address.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path
from urllib.parse import urlsplit

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import AudioPart, FilePart, ImagePart

ATTACHMENT_BYTES = 1024 * 1024
"""Bytes of one attachment at most: the server takes no message over 2 MB, and JSON makes four thirds of bytes."""

Attached = ImagePart | AudioPart | FilePart

UNKNOWN = "application/octet-stream"


def attachment(source: str | Path | bytes, *, media_type: str = "", name: str = "") -> Attached:
    """A part of a message from a file's path, an ``http(s)`` address, or bytes.

    ``media_type`` is guessed from the name where it is not given. Raises InvalidInputError for what cannot be attached:
    no such file, an empty or too large one, bytes without a media type.
    """
    if isinstance(source, bytes):
        if not (media_type or name):
            raise InvalidInputError("Bytes need a media_type, such as image/png, or a name to guess it from.")
        return _part(media_type or _guess(name), name, data=_bounded(source, name or "the attachment"))
    text = str(source)
    if urlsplit(text).scheme in ("http", "https"):
        last = urlsplit(text).path.rpartition("/")[2]
        return _part(media_type or _guess(last), name or last, url=text)
    path = Path(source)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidInputError(f"The file {text!r} cannot be attached: {why}.") from None
    return _part(media_type or _guess(path.name), name or path.name, data=_bounded(data, text))


def _bounded(data: bytes, what: str) -> bytes:
    if not data:
        raise InvalidInputError(f"{what} is empty: there is nothing to attach.")
    if len(data) > ATTACHMENT_BYTES:
        raise InvalidInputError(
            f"{what} is too large to attach: {len(data)} bytes, at most {ATTACHMENT_BYTES}. Attach an address instead, "
            "or put the file into the workspace, where the agent reads it."
        )
    return data


def _guess(name: str) -> str:
    return mimetypes.guess_type(name)[0] or UNKNOWN


def _part(media_type: str, name: str, *, url: str | None = None, data: bytes | None = None) -> Attached:
    if media_type.startswith("image/"):
        return ImagePart(media_type=media_type, url=url, data=data)
    if media_type.startswith("audio/"):
        return AudioPart(media_type=media_type, url=url, data=data)
    return FilePart(media_type=media_type, name=name, url=url, data=data)
