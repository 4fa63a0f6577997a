from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.providers.sse import MAX_EVENT, OversizeEventError, SseEvent, SseReader


def read(*chunks: bytes) -> list[tuple[str, str]]:
    reader = SseReader()
    found = [event for chunk in chunks for event in reader.feed(chunk)] + reader.end()
    return [(event.event, event.data) for event in found]


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({place % (len(data) + 1) for place in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_any_of_the_three_ways(end: str) -> None:
    stream = end.join(["event: a", "data: 1", "", "data: 2", "", ""]).encode()
    assert read(stream) == [("a", "1"), ("", "2")]
    assert read(*[bytes([byte]) for byte in stream]) == [("a", "1"), ("", "2")]


def test_the_space_after_the_colon_is_optional_and_only_one_is_taken() -> None:
    assert read(b"data:1\n\ndata:  2\n\n") == [("", "1"), ("", " 2")]


def test_several_data_lines_are_joined_by_a_line_break() -> None:
    assert read(b"data: a\ndata: b\ndata\n\n") == [("", "a\nb\n")]


def test_comments_ids_retries_and_empty_events_are_left_out() -> None:
    assert read(b": OPENROUTER PROCESSING\n\n:\n\nid: 7\n\nretry: 10\n: x\n\ndata:\n\ndata: 1\n\n") == [("", "1")]


def test_an_event_may_come_without_data() -> None:
    assert read(b"event: ping\n\ndata: 1\n\n") == [("ping", ""), ("", "1")]


def test_the_last_event_needs_no_blank_line_and_no_line_end() -> None:
    assert read(b"data: 1\n\ndata: 2") == [("", "1"), ("", "2")]
    assert read(b"data: 1\n\ndata: 2\n") == [("", "1"), ("", "2")]


def test_unicode_line_separators_do_not_end_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    assert read(f"data: {text}\n\n".encode()) == [("", text)]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert read(b"\xef\xbb", b"\xbfdata: 1\n\n") == [("", "1")]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert read(b"data: a\xffb\n\n") == [("", "a\ufffdb")]


def test_an_event_without_end_is_refused_before_it_fills_the_memory() -> None:
    reader = SseReader()
    for _ in range(MAX_EVENT // (8 << 20)):
        reader.feed(b"x" * (8 << 20))
    with pytest.raises(OversizeEventError):
        reader.feed(b"x")


def test_many_events_are_no_large_event() -> None:
    reader = SseReader()
    event = b"data: " + b"x" * (1 << 20) + b"\n\n"
    assert sum(len(reader.feed(event)) for _ in range(MAX_EVENT // (1 << 20) + 2)) == MAX_EVENT // (1 << 20) + 2


lines = st.lists(
    st.one_of(
        st.builds("data: {}".format, st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))),
        st.sampled_from(["", "", ": comment", "event: e", "data", "id: 1", "data:{}"]),
    ),
    max_size=12,
)


@given(lines, st.sampled_from(["\n", "\r\n", "\r"]), st.lists(st.integers(0, 500), max_size=8))
def test_wherever_a_stream_is_cut_its_events_are_equal(lines: list[str], end: str, cuts: list[int]) -> None:
    stream = end.join(lines).encode()
    whole = read(stream)
    assert read(*cut(stream, cuts)) == whole
    assert read(*[bytes([byte]) for byte in stream]) == whole


def test_events_are_plain_values() -> None:
    assert SseReader().feed(b"event: a\ndata: b\n\n") == [SseEvent("a", "b")]
