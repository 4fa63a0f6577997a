from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    OverloadedError,
    ProviderError,
    ProviderNetworkError,
    RateLimitedError,
)
from perdure.contracts.messages import CallPart, FinishReason, ReasoningPart, TextPart
from perdure.contracts.usage import Cost, Usage
from perdure.providers.catalogue import Endpoint
from perdure.providers.openai_chat import ChatProvider
from perdure.providers.stream import TextPiece
from tests.providers.serving import KEY, SSE, answer, asking, chunk, events, pieces_of, replying, serving
from tests.providers.sockets import serve

USAGE = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14, "prompt_tokens_details": {"cached_tokens": 3}}


def counted(**usage: object) -> dict[str, object]:
    return {"id": "chatcmpl-1", "choices": [], "usage": {**USAGE, **usage}}


async def test_a_streamed_answer_becomes_one_message() -> None:
    stream = events(
        {"choices": [], "prompt_filter_results": []},
        chunk(role="assistant", content=""),
        chunk(content="I "),
        chunk(content="look."),
        chunk(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "read", "arguments": ""}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"path":"a"}'}}]),
        chunk("tool_calls"),
        counted(),
    )
    message = await answer(replying(stream))
    assert message.parts == (
        TextPart(text="I look."),
        CallPart(
            call_id="t1s1c1",
            tool="read",
            arguments_text='{"path":"a"}',
            arguments={"path": "a"},
            provider_call_id="call_1",
        ),
    )
    assert message.finish == "calls"
    assert message.usage == Usage(requests=1, input_tokens=10, cached_tokens=3, output_tokens=4)
    assert message.provider_message_id == "chatcmpl-1"
    assert message.cost.nano_dollars > 0


async def test_the_request_goes_where_the_endpoint_says_with_the_key_in_its_header() -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, headers=SSE, content=events(chunk("stop", content="Hi")))

    await answer(handle)
    await answer(handle, name="mine", base_url="https://x.example/v1/", key_header="api-key")
    assert [str(request.url) for request in seen] == [
        "https://api.openai.com/v1/chat/completions",
        "https://x.example/v1/chat/completions",
    ]
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert seen[1].headers["api-key"] == KEY
    assert "authorization" not in seen[1].headers
    assert json.loads(seen[0].content)["model"] == "gpt-5-mini"


async def test_a_whole_reply_to_a_streaming_request_is_read_as_well() -> None:
    message = {"role": "assistant", "content": "Hi", "tool_calls": None}
    whole = {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
    for head in (b"", b"\n\n  ", b"\xef\xbb\xbf"):
        assert (await answer(replying(head, json.dumps(whole).encode(), headers=SSE))).text == "Hi"


async def test_a_tools_dotted_name_is_mapped_there_and_back() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        name = json.loads(request.content)["tools"][0]["function"]["name"]
        calls = [{"index": 0, "id": "a", "function": {"name": name, "arguments": "{}"}}]
        return httpx.Response(200, headers=SSE, content=events(chunk("tool_calls", tool_calls=calls)))

    message = await answer(handle, request=asking("fs.read"))
    assert message.calls[0].tool == "fs.read"


@pytest.mark.parametrize(
    ("raw", "calls", "expected"),
    [
        ("stop", False, "stop"),
        ("stop", True, "calls"),
        ("tool_calls", True, "calls"),
        ("tool_calls", False, "stop"),
        ("function_call", True, "calls"),
        ("length", False, "length"),
        ("length", True, "length"),
        ("content_filter", False, "refused"),
        ("a_new_word", False, "stop"),
    ],
)
async def test_finish_words_have_one_meaning(raw: str, calls: bool, expected: FinishReason) -> None:
    called = [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}] if calls else None
    assert (await answer(replying(events(chunk(content="x", tool_calls=called), chunk(raw))))).finish == expected


async def test_a_refusal_is_text_and_finishes_as_refused() -> None:
    message = await answer(replying(events(chunk(refusal="I can"), chunk(refusal="not."), chunk("stop"))))
    assert (message.text, message.finish) == ("I cannot.", "refused")


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning_content": "h"}, {"reasoning_content": "m"}, {"content": "Yes."}],
        [{"reasoning": "hm"}, {"content": "Yes."}],
        [{"reasoning": "hm", "reasoning_content": "hm"}, {"content": "Yes."}],
        [{"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, {"content": "Yes."}],
        [{"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, {"content": "Yes."}],
        [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}, {"content": "Yes."}],
        [{"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}]}],
        [{"content": "<thi"}, {"content": "nk>hm</think>\n"}, {"content": "\nYes."}],
    ],
)
async def test_reasoning_is_found_wherever_a_server_puts_it(deltas: list[dict[str, object]]) -> None:
    stream = events(*({"choices": [{"index": 0, "delta": delta}]} for delta in deltas), chunk("stop"))
    message = await answer(replying(stream), name="vllm")
    assert message.parts == (ReasoningPart(text="hm"), TextPart(text="Yes."))


async def test_openrouters_reasoning_details_are_kept_whole_for_the_way_back() -> None:
    details = [
        [{"type": "reasoning.text", "text": "h", "index": 0, "format": "x"}],
        [{"type": "reasoning.text", "text": "m", "index": 0, "signature": None}],
        [
            {"type": "reasoning.text", "index": 0, "signature": "sig"},
            {"type": "reasoning.encrypted", "data": "b", "index": 1},
        ],
    ]
    stream = events(*(chunk(reasoning_details=detail) for detail in details), chunk("stop", content="Yes."))
    message = await answer(replying(stream), name="openrouter")
    thought = message.parts[0]
    assert isinstance(thought, ReasoningPart)
    assert thought.text == "hm"
    assert thought.opaque is not None
    assert thought.opaque.origin == "openai-chat:openrouter.ai"
    assert thought.opaque.data["reasoning_details"] == [
        {"type": "reasoning.text", "text": "hm", "index": 0, "format": "x", "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "b", "index": 1},
    ]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, Usage(requests=1, input_tokens=10, cached_tokens=3, output_tokens=4)),
        (
            {"completion_tokens_details": {"reasoning_tokens": 2}},
            Usage(requests=1, input_tokens=10, cached_tokens=3, output_tokens=4, reasoning_tokens=2),
        ),
        (
            {"prompt_tokens_details": None, "prompt_cache_hit_tokens": 6},
            Usage(requests=1, input_tokens=10, cached_tokens=6, output_tokens=4),
        ),
        (
            {"prompt_tokens_details": None, "num_cached_tokens": 6},
            Usage(requests=1, input_tokens=10, cached_tokens=6, output_tokens=4),
        ),
        ({"prompt_tokens": None, "completion_tokens": "x", "prompt_tokens_details": []}, Usage(requests=1)),
    ],
)
async def test_usage_is_read_under_every_name(usage: dict[str, object], expected: Usage) -> None:
    message = await answer(replying(events(chunk("stop", content="x"), counted(**usage))))
    assert message.usage == expected


@pytest.mark.parametrize(
    "tail",
    [
        [{**chunk("stop"), "usage": USAGE}],
        [chunk("stop"), {**chunk("stop"), "usage": USAGE}],
        [chunk("stop"), {"choices": [], "usage": USAGE}],
        [{**chunk("stop"), "x_groq": {"usage": USAGE}}],
        [{"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]}],
    ],
)
async def test_usage_is_found_wherever_a_server_puts_it(tail: list[dict[str, object]]) -> None:
    message = await answer(replying(events(chunk(content="x"), *tail)))
    assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 4)


async def test_output_that_a_server_leaves_out_of_its_count_is_counted() -> None:
    hidden = counted(completion_tokens=2, total_tokens=24, completion_tokens_details={"reasoning_tokens": 12})
    message = await answer(replying(events(chunk("stop", content="x"), hidden)), name="xai")
    assert (message.usage.output_tokens, message.usage.reasoning_tokens) == (14, 12)


async def test_a_cost_that_the_provider_states_is_taken() -> None:
    message = await answer(replying(events(chunk("stop", content="x"), counted(cost=0.00000001))), name="openrouter")
    assert message.cost == Cost(nano_dollars=10)


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


async def test_a_connection_that_breaks_before_it_is_a_network_error() -> None:
    stream = events(chunk(content="x"), done=False)
    with pytest.raises(ProviderNetworkError) as caught:
        await answer(replying(stream, fail=httpx.RemoteProtocolError("peer closed")))
    assert caught.value.delivered


async def test_a_server_that_keeps_the_connection_open_after_done_holds_nobody_up() -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + events(chunk("stop", content="x")))
        await reader.read()

    async with serve(endless) as address, asyncio.timeout(10):
        pieces = await pieces_of(ChatProvider("mine", Endpoint(base_url=address)))
    assert TextPiece("x") in pieces


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (events({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}), RateLimitedError),
        (events({"error": {"message": "busy", "type": "server_error", "code": 500}}, done=False), OverloadedError),
        (b'event: error\ndata: {"error":{"message":"busy","type":"overloaded_error"}}\n\n', OverloadedError),
        (b"event: error\ndata: it broke\n\n", BadReplyError),
        (events({"id": "1", "choices": [], "error": {"message": "busy", "code": 503}}), OverloadedError),
        (
            events(
                {
                    "choices": [{"index": 0, "delta": {}, "finish_reason": "error"}],
                    "error": {"message": "x", "code": 502},
                }
            ),
            OverloadedError,
        ),
        (events({"object": "error", "message": "it broke", "code": 50001}), BadReplyError),
        (events({"detail": "it broke"}), BadReplyError),
        (events("x", done=False) + b'data: {"error": "it broke"}\n\n', BadReplyError),
        (b'{"error": {"message": "no credit", "code": 401}}', AuthenticationError),
        (b'[{"error": {"message": "slow down", "status": "RESOURCE_EXHAUSTED"}}]', RateLimitedError),
        (events(chunk("insufficient_system_resource")), OverloadedError),
    ],
)
async def test_an_error_inside_a_good_reply_is_the_error_it_stands_for(
    body: bytes, expected: type[ProviderError]
) -> None:
    with pytest.raises(ProviderError) as caught:
        await answer(replying(body, headers={**SSE, "x-request-id": "req_7"}))
    assert type(caught.value) is expected
    assert not caught.value.delivered
    if expected is not OverloadedError or b"insufficient" not in body:
        assert caught.value.request_id == "req_7"


async def test_an_error_in_the_middle_of_the_text_says_that_text_was_delivered() -> None:
    with pytest.raises(OverloadedError) as caught:
        await answer(replying(events(chunk(content="half"), {"error": {"message": "busy", "code": 503}})))
    assert caught.value.delivered


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


async def test_leaving_early_ends_the_request() -> None:
    closed = asyncio.Event()

    class Body(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            while True:
                yield events(chunk(content="a"), done=False)

        async def aclose(self) -> None:
            closed.set()

    provider = serving(lambda _: httpx.Response(200, headers=SSE, stream=Body()))
    async with aclosing(provider.stream(asking())) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextPiece):
                break
    assert closed.is_set()
    await provider.close()
