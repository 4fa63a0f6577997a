from __future__ import annotations

import pytest

from perdure.client.sniffing import media_type_of

PNG = b"\x89PNG\r\n\x1a\n\x00\x00"


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"),
        (b"GIF89a\x01\x00", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", "audio/wav"),
        (b"ID3\x04\x00", "audio/mpeg"),
        (b"\xff\xfb\x90\x00", "audio/mpeg"),
        (b"fLaC\x00", "audio/flac"),
        (b"%PDF-1.7\n%\xe2\xe3", "application/pdf"),
    ],
)
def test_a_known_beginning_counts_before_the_name(data: bytes, media_type: str) -> None:
    assert {media_type_of(data, name) for name in ("a.txt", "a.zzz", "a", "")} == {media_type}


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        *((name, "text/plain") for name in ("a.toml", "a.yaml", "a.go", "a.log", "Makefile", "a.rs", "a.ts", "a.svg")),
        ("a.md", "text/markdown"),
        ("a.csv", "text/csv"),
        ("a.json", "application/json"),
        ("a.html", "text/html"),
        ("a.png", "text/plain"),
        ("a.txt.gz", "text/plain"),
    ],
)
def test_what_reads_as_text_is_text_and_the_name_says_of_which_kind(name: str, media_type: str) -> None:
    assert media_type_of("grün\t\x1b[1mbold\x1b[0m\r\n".encode(), name) == media_type


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.zzz", "application/octet-stream"),
        ("a.txt.gz", "application/octet-stream"),
        ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("a.ogg", "audio/ogg"),
    ],
)
def test_other_bytes_are_what_the_name_says(name: str, media_type: str) -> None:
    assert media_type_of(b"PK\x03\x04\xff", name) == media_type


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"gr\xfcn", "a.txt", "no UTF-8 text"),
        ("grün".encode("utf-16"), "a.csv", "no UTF-8 text"),
        (b"a\x00b", "a.json", "no UTF-8 text"),
        (b"\x00\xff", "a.png", "its contents are no image/png"),
        (b"\x00\xff", "a.wav", "its contents are no audio/wav"),
    ],
)
def test_bytes_that_cannot_be_what_the_name_says_are_refused(data: bytes, name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        media_type_of(data, name)
