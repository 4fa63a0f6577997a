from __future__ import annotations

import json

import httpx
import pytest

from perdure.contracts.errors import (
    BadReplyError,
)
from tests.providers.serving import SSE, USAGE, answer, chunk, events, replying


async def test_a_whole_reply_to_a_streaming_request_is_read_as_well() -> None:
    message = {"role": "assistant", "content": "Hi", "tool_calls": None}
    whole = {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
    for head in (b"", b"\n\n  ", b"\xef\xbb\xbf"):
        assert (await answer(replying(head, json.dumps(whole).encode(), headers=SSE))).text == "Hi"


async def test_a_stream_that_ends_without_finish_or_done_is_no_answer() -> None:
    with pytest.raises(BadReplyError) as caught:
        await answer(replying(events(chunk(content="half"), done=False)))
    assert caught.value.delivered


async def test_done_alone_or_a_finish_alone_ends_an_answer() -> None:
    assert (await answer(replying(events(chunk(content="x"))))).finish == "stop"
    assert (await answer(replying(events(chunk("stop", content="x"), done=False)))).finish == "stop"


async def test_a_connection_that_breaks_after_the_finish_has_given_the_whole_answer() -> None:
    stream = events(chunk("stop", content="x"), done=False)
    assert (await answer(replying(stream, fail=httpx.ReadError("gone")))).text == "x"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b"<html>login</html>",
        b'{"choices": [',
        b"data: {broken\n\n",
        b"data: [DONE]\n\n",
        b"{}",
        b"[]",
        b"hello",
        events(chunk("stop")),
        events(chunk("stop", tool_calls=[{"index": 0, "id": "a", "function": {"arguments": "{}"}}])),
    ],
)
async def test_a_reply_that_is_no_answer_is_never_taken_for_one(body: bytes) -> None:
    with pytest.raises(BadReplyError):
        await answer(replying(body))


async def test_pings_comments_and_unknown_things_are_passed_over() -> None:
    noise = b': OPENROUTER PROCESSING\n\n:\n\ndata: ""\n\ndata: : keepalive\n\ndata:\n\nevent: ping\n\ndata: 7\n\n'
    odd = {
        "object": "chat.completion.chunk",
        "obfuscation": "x",
        "choices": [None, "x", {"index": 0}, {"index": 1, "delta": {"content": "other"}}],
    }
    body = noise + events(chunk(content="a", audio={"id": 1}), odd, chunk("stop", content="b"))
    assert (await answer(replying(body))).text == "ab"


async def test_characters_cut_in_two_anywhere_arrive_whole() -> None:
    stream = json.dumps(chunk("stop", content="na\u00efve \U0001f600 \u2028"), ensure_ascii=False).encode()
    body = b"data: " + stream + b"\n\n"
    assert (await answer(replying(*[bytes([byte]) for byte in body]))).text == "na\u00efve \U0001f600 \u2028"
    halves = events(chunk(content="\ud83d"), chunk("stop", content="\ude00"))
    assert (await answer(replying(halves))).text == "\U0001f600"
