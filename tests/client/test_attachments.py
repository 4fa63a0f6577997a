from __future__ import annotations

from pathlib import Path

import pytest

from perdure.client.attachments import ATTACHMENT_BYTES, attachment
from perdure.contracts.errors import InvalidInputError


@pytest.mark.parametrize(
    ("name", "kind", "media_type"),
    [
        ("plan.png", "image", "image/png"),
        ("talk.mp3", "audio", "audio/mpeg"),
        ("notes.txt", "file", "text/plain"),
        ("paper.pdf", "file", "application/pdf"),
        ("unknown.zzz", "file", "application/octet-stream"),
    ],
)
def test_a_file_becomes_the_part_of_its_kind(tmp_path: Path, name: str, kind: str, media_type: str) -> None:
    (tmp_path / name).write_bytes(b"content")
    part = attachment(tmp_path / name)
    assert (part.kind, part.media_type, part.data) == (kind, media_type, b"content")


def test_an_address_is_attached_by_reference() -> None:
    part = attachment("https://example.org/a/plan.png?x=1")
    assert (part.kind, part.url, part.data) == ("image", "https://example.org/a/plan.png?x=1", None)


def test_bytes_need_a_media_type_or_a_name() -> None:
    assert attachment(b"x", media_type="image/png").kind == "image"
    assert attachment(b"x", name="a.txt").media_type == "text/plain"
    with pytest.raises(InvalidInputError, match="media_type"):
        attachment(b"x")


def test_what_cannot_be_attached_says_why(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "large").write_bytes(b"x" * (ATTACHMENT_BYTES + 1))
    for name, why in (("absent", "No such file"), ("empty", "is empty"), ("large", "too large"), (".", "directory")):
        with pytest.raises(InvalidInputError, match=why):
            attachment(tmp_path / name)
    with pytest.raises(InvalidInputError, match="cannot be attached"):
        attachment("with\0zero")
