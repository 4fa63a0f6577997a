from __future__ import annotations

import pytest

from perdure.contracts.attachments import ATTACHMENT_BYTES, attachment_fault, check_attachments, is_text
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import AudioPart, FilePart, ImagePart, TextPart, UserPart


@pytest.mark.parametrize(
    "part",
    [
        TextPart(text="x"),
        FilePart(media_type="text/plain; charset=utf-8", data="ü".encode()),
        FilePart(media_type="application/vnd.oasis.opendocument.text", data=b"\xff\x00"),
        ImagePart(url="https://example.org/x.png?signature=abc#top"),
        AudioPart(data=b"x" * ATTACHMENT_BYTES),
    ],
)
def test_a_part_that_can_be_sent_has_no_fault(part: UserPart) -> None:
    assert attachment_fault(part) == ""
    check_attachments((part,))


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (FilePart(media_type="text/plain"), "it needs either data or a url, and not both"),
        (FilePart(media_type="text/plain", data=b"x", url="https://example.org/a"), "either data or a url"),
        (FilePart(media_type="text/plain", data=b""), "it is empty"),
        (FilePart(media_type="application/pdf", data=b"x" * (ATTACHMENT_BYTES + 1)), "it is too large"),
        (FilePart(media_type="nonsense", data=b"x"), "'nonsense' is no media type"),
        (FilePart(media_type="text/plain", data=b"gr\xfcn"), "it is no UTF-8, and text/plain is sent as such"),
        (ImagePart(url="file:///etc/passwd"), "starts with http:// or https://"),
        (AudioPart(url="javascript:alert(1)"), "starts with http:// or https://"),
        (ImagePart(url="http://user:pw@example.org/x.png"), "neither a user nor a password"),
    ],
)
def test_a_part_that_no_provider_could_use_is_refused_with_its_place(part: UserPart, said: str) -> None:
    good = TextPart(text="x")
    with pytest.raises(InvalidInputError, match=r"^Attachment 2 cannot be sent: ") as caught:
        check_attachments((good, part))
    assert said in str(caught.value)
    assert "pw@" not in str(caught.value)


def test_text_is_told_by_its_media_type() -> None:
    kinds = ("text/html", "application/json", "application/pdf", "x/text")
    assert [is_text(kind) for kind in kinds] == [True, True, False, False]
