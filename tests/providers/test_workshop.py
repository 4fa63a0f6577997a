from __future__ import annotations

from perdure.providers.workshop import Attachment, form


def test_a_file_keeps_its_bytes_and_its_name_breaks_no_line() -> None:
    file = Attachment("file", 'a"\r\nx: y\\.mp3', "audio/mpeg\r\nx: y", bytes(range(256)))
    written = form({"model": "é"}, (file,), "b")
    assert written == (
        b'--b\r\ncontent-disposition: form-data; name="model"\r\n\r\n\xc3\xa9\r\n'
        b'--b\r\ncontent-disposition: form-data; name="file"; filename="ax: y.mp3"\r\n'
        b"content-type: audio/mpegx: y\r\n\r\n" + bytes(range(256)) + b"\r\n--b--\r\n"
    )


def test_a_name_of_nothing_printable_is_a_name_all_the_same() -> None:
    assert b'filename="file"' in form({}, (Attachment("file", '"', "audio/wav", b""),), "b")
