"""Attachments: a file, an address or bytes as a part of a message."""

from __future__ import annotations

from pathlib import Path

from perdure.agents.bounded import read_bounded
from perdure.client.sniffing import guessed, media_type_of
from perdure.contracts.attachments import ATTACHMENT_BYTES, address_fault, attachment_fault, size_fault
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import AudioPart, FilePart, ImagePart

__all__ = ["ATTACHMENT_BYTES", "attachment"]

Attached = ImagePart | AudioPart | FilePart


def attachment(source: str | Path | bytes, *, media_type: str = "", name: str = "") -> Attached:
    """A part of a message from a file's path, an ``http(s)`` address, or bytes.

    Without a ``media_type``, that of a file or of bytes is what they are by their contents, where the name only tells
    kinds of text apart; that of an address is guessed from its name. Raises InvalidInputError for what cannot be
    attached: no such file or none that is regular, an empty or too large one, one whose contents nobody can tell, an
    address with a password.
    """
    if isinstance(source, bytes):
        if not (media_type or name):
            raise InvalidInputError("Bytes need a media_type, such as image/png, or a name to tell their kind by.")
        return _data(source, media_type, name, name or "the bytes")
    given: object = source
    if not isinstance(given, str | Path):
        raise InvalidInputError(f"A path, an address or bytes can be attached, not {type(given).__name__}.")
    text = str(source)
    if not text.strip():
        raise InvalidInputError("The name of what to attach is empty. Name a file, or an address.")
    if isinstance(source, str) and "://" in source:
        return _address(source, media_type, name)
    path = Path(source)
    try:
        size = path.stat().st_size if path.is_file() else 1
        data = b"" if size_fault(size) else read_bounded(path, ATTACHMENT_BYTES)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidInputError(f"The file {text!r} cannot be attached: {why}.") from None
    if fault := size_fault(size):
        raise _refused(text, fault)
    return _data(data, media_type, name or path.name, text)


def _address(url: str, media_type: str, name: str) -> Attached:
    if fault := address_fault(url):
        raise _refused("It", fault)
    last = url.partition("?")[0].partition("#")[0].rpartition("/")[2]
    return _part(media_type or guessed(last), name or last, url=url)


def _data(data: bytes, media_type: str, name: str, what: str) -> Attached:
    if fault := size_fault(len(data)):
        raise _refused(what, fault)
    try:
        return _part(media_type or media_type_of(data, name), name, data=data)
    except ValueError as error:
        raise _refused(what, str(error)) from None


def _refused(what: str, fault: str) -> InvalidInputError:
    return InvalidInputError(f"{what} cannot be attached: {fault}.")


def _part(media_type: str, name: str, *, url: str | None = None, data: bytes | None = None) -> Attached:
    part: Attached
    if media_type.startswith("image/"):
        part = ImagePart(media_type=media_type, url=url, data=data)
    elif media_type.startswith("audio/"):
        part = AudioPart(media_type=media_type, url=url, data=data)
    else:
        part = FilePart(media_type=media_type, name=name, url=url, data=data)
    if fault := attachment_fault(part):
        raise _refused(name or "The attachment", fault)
    return part
