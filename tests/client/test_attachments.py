from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from perdure.client.attachments import ATTACHMENT_BYTES, attachment
from perdure.contracts.errors import InvalidInputError

PNG = b"\x89PNG\r\n\x1a\n"
WAV = b"RIFF\x10\x00\x00\x00WAVE"


@pytest.mark.parametrize(
    ("name", "data", "kind", "media_type"),
    [
        ("plan.png", PNG, "image", "image/png"),
        ("plan.txt", PNG, "image", "image/png"),
        ("talk.wav", WAV, "audio", "audio/wav"),
        ("notes.rs", b"fn main() {}", "file", "text/plain"),
        ("unknown.zzz", b"\x00\xff", "file", "application/octet-stream"),
    ],
)
def test_a_file_becomes_the_part_of_what_its_bytes_are(
    tmp_path: Path, name: str, data: bytes, kind: str, media_type: str
) -> None:
    (tmp_path / name).write_bytes(data)
    part = attachment(tmp_path / name)
    assert (part.kind, part.media_type, part.data) == (kind, media_type, data)
    assert part == attachment(data, name=name)


def test_an_address_is_attached_by_reference() -> None:
    part = attachment("https://example.org/a/plan.png?x=1")
    assert (part.kind, part.url, part.data) == ("image", "https://example.org/a/plan.png?x=1", None)
    assert attachment("https://example.org/a").media_type == "application/octet-stream"


@pytest.mark.parametrize(
    "address", ["ftp://example.org/a", "file:///etc/passwd", "http://ana:secret@h/x.png", "https://"]
)
def test_an_address_that_no_provider_may_get_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(InvalidInputError, match="its address must") as caught:
        attachment(address)
    assert "secret" not in str(caught.value)


def test_bytes_need_a_media_type_or_a_name() -> None:
    assert attachment(b"x", media_type="image/png").kind == "image"
    assert attachment(b"x", name="a.txt").media_type == "text/plain"
    for media_type in ("", "nonsense"):
        with pytest.raises(InvalidInputError, match=r"media.type"):
            attachment(b"x", media_type=media_type)


def test_what_cannot_be_attached_says_why(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "large").write_bytes(b"x" * (ATTACHMENT_BYTES + 1))
    (tmp_path / "latin.txt").write_bytes(b"gr\xfcn")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(3 * 1024**3)
    reasons = {
        "absent": "No such file",
        "empty": "is empty",
        "large": "too large",
        "sparse": "too large: 3,221,225,472 bytes",
        "latin.txt": "no UTF-8",
        "pipe": "ot a regular file",
        ".": "directory",
    }
    for name, why in reasons.items():
        with pytest.raises(InvalidInputError, match=why):
            attachment(tmp_path / name)
    with pytest.raises(InvalidInputError, match="ot a regular file"):
        attachment("/dev/zero")
    with pytest.raises(InvalidInputError, match="cannot be attached"):
        attachment("with\0zero")
    with pytest.raises(InvalidInputError, match="is empty"):
        attachment("")


@pytest.mark.parametrize("source", [None, 5, ["a.png"]])
def test_what_is_no_path_no_address_and_no_bytes_is_refused(source: Any) -> None:
    with pytest.raises(InvalidInputError, match="A path, an address or bytes can be attached, not"):
        attachment(source)
