"""What bytes are, told by the bytes: a name may say anything.

Providers take text as text and images as images, and a file that goes under another kind arrives mangled or not at all.
So the beginning of a file that is known by it counts before its name, and whatever reads as UTF-8 is text.
"""

from __future__ import annotations

import mimetypes
import re

from perdure.contracts.attachments import is_text

UNKNOWN = "application/octet-stream"

_BEGINNINGS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"....ftyp(?:heic|heix|mif1)", re.DOTALL), "image/heic"),
    (re.compile(rb"....ftypavif", re.DOTALL), "image/avif"),
    (re.compile(rb"II\*\x00|MM\x00\*"), "image/tiff"),
    (re.compile(rb"BM....\x00\x00\x00\x00", re.DOTALL), "image/bmp"),
    (re.compile(rb"RIFF....WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb"ID3[\x02-\x04]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]"), "audio/mpeg"),
    (re.compile(rb"\xff[\xf1\xf9]"), "audio/aac"),
    (re.compile(rb"fLaC"), "audio/flac"),
    (re.compile(rb"....ftypM4A", re.DOTALL), "audio/mp4"),
    (re.compile(rb"%PDF-"), "application/pdf"),
)
_ALWAYS_SO = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "audio/wav", "audio/flac"})
"""Kinds of which every file begins as said above."""

_TEXTS = frozenset(
    {
        "text/plain", "text/html", "text/css", "text/csv", "text/markdown", "text/xml", "text/javascript",
        "text/tab-separated-values", "text/calendar", "text/x-python", "application/json", "application/xml",
    }
)  # fmt: skip
"""Kinds of text that a name may tell; under any other, text is plain text."""

_ALIASES = {"audio/x-wav": "audio/wav", "audio/vnd.wave": "audio/wav", "audio/x-flac": "audio/flac"}

_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters; those of terminals (escape) and pages (form feed) stand in logs and sources."""


def media_type_of(data: bytes, name: str) -> str:
    """The media type of ``data``, which stands under ``name``.

    Raises ValueError, saying why, for what cannot be what its name says and shows nothing else.
    """
    for beginning, media_type in _BEGINNINGS:
        if beginning.match(data):
            return media_type
    said = guessed(name)
    if _reads_as_text(data):
        return said if said in _TEXTS else "text/plain"
    if said in _ALWAYS_SO:
        raise ValueError(f"its contents are no {said}, as its name says. Give it its right name, or a media_type")
    if is_text(said):
        raise ValueError("it is no UTF-8 text, as its name says. Save it as UTF-8, or give it its right name")
    return said


def guessed(name: str) -> str:
    """What the name of a file says of its kind, as this project calls it."""
    said, packed = mimetypes.guess_type(name)
    return UNKNOWN if said is None or packed else _ALIASES.get(said, said)


def _reads_as_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return _NO_TEXT.search(data) is None
