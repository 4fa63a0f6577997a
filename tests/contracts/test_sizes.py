from __future__ import annotations

import pytest

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import FilePart
from perdure.contracts.requests import Answer, Approve, Close, Deny, Edit, Order, RunRequest, Send
from perdure.contracts.sizes import LARGEST_MESSAGE, LARGEST_ORDER, check_size

FILE = FilePart(name="plan.pdf", data=b"x" * 1_000_000)


@pytest.mark.parametrize(
    "written",
    [
        RunRequest(message="x" * LARGEST_MESSAGE),
        RunRequest(message="Hi", attachments=(FILE, FILE)),
        RunRequest(message="é" * (LARGEST_MESSAGE // 2)),
        RunRequest(message="Hi", metadata={"log": "x" * LARGEST_MESSAGE}),
        Send(message="Hi", attachments=(FILE, FILE)),
        Edit(message_id="u2", message="x" * LARGEST_MESSAGE),
        Approve(call_id="t1s1c1", reason="x" * LARGEST_ORDER),
        Approve(call_id="t1s1c1", arguments={"text": "x" * LARGEST_ORDER}),
        Deny(call_id="t1s1c1", reason="x" * LARGEST_ORDER),
        Answer(call_id="t1s1c1", answer=("x" * LARGEST_ORDER,)),
        Close(reason="x" * LARGEST_ORDER),
    ],
    ids=lambda written: type(written).__name__,
)
def test_what_no_run_takes_is_refused_with_its_size_and_the_most_that_may_be(written: Order | RunRequest) -> None:
    with pytest.raises(
        InvalidInputError, match=r"is too large together: [\d,]+ bytes as JSON, at most (1,50|25)0,000\."
    ):
        check_size(written)


@pytest.mark.parametrize(
    "written",
    [
        RunRequest(message="Hi", attachments=(FilePart(data=b"x" * 1024 * 1024),)),
        Send(message="x" * (LARGEST_MESSAGE - 1_000)),
        Approve(call_id="t1s1c1", reason="x" * (LARGEST_ORDER - 1_000)),
    ],
    ids=lambda written: type(written).__name__,
)
def test_one_attachment_of_the_largest_size_or_a_long_text_is_taken(written: Order | RunRequest) -> None:
    check_size(written)
