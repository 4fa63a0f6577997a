from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    OverloadedError,
    ProviderError,
    RateLimitedError,
    RefusedError,
)
from perdure.contracts.messages import CallPart, TextPart
from perdure.contracts.usage import Usage
from tests.providers.serving import KEY, SSE, answer, asking, chunk, counted, events, replying


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


async def test_a_tools_dotted_name_is_mapped_there_and_back() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        name = json.loads(request.content)["tools"][0]["function"]["name"]
        calls = [{"index": 0, "id": "a", "function": {"name": name, "arguments": "{}"}}]
        return httpx.Response(200, headers=SSE, content=events(chunk("tool_calls", tool_calls=calls)))

    message = await answer(handle, request=asking("fs.read"))
    assert message.calls[0].tool == "fs.read"


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
        await answer(replying(body, headers={**SSE, "x-request-id": "req_7", "retry-after": "9"}))
    assert type(caught.value) is expected
    assert caught.value.retry_after is None, "good replies carry the header too"
    assert not caught.value.delivered
    assert caught.value.request_id == "req_7"


async def test_an_error_in_the_middle_of_the_text_says_that_text_was_delivered() -> None:
    with pytest.raises(OverloadedError) as caught:
        await answer(replying(events(chunk(content="half"), {"error": {"message": "busy", "code": 503}})))
    assert caught.value.delivered


AZURE: dict[str, Any] = {
    "name": "azure",
    "base_url": "https://mine.openai.azure.com/openai/v1",
    "key_header": "api-key",
    "dialect": "azure",
}


async def test_azure_is_settings_and_its_own_chunks_change_nothing() -> None:
    seen: list[httpx.Request] = []
    filtered: dict[str, object] = {"index": 0, "finish_reason": None, "content_filter_results": {}}
    stream = events(
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        chunk(content="Hi"),
        {"choices": [filtered]},
        chunk("stop"),
        counted(),
    )

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, headers=SSE, content=stream)

    message = await answer(handle, **AZURE)
    assert (message.text, message.finish) == ("Hi", "stop")
    assert str(seen[0].url) == "https://mine.openai.azure.com/openai/v1/chat/completions"
    assert seen[0].headers["api-key"] == KEY


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (401, {"code": "401", "message": "Access denied due to invalid subscription key"}, AuthenticationError),
        (404, {"code": "DeploymentNotFound", "message": "The API deployment does not exist"}, BadRequestError),
        (400, {"code": "content_filter", "message": "x", "innererror": {"code": "Filtered"}}, RefusedError),
    ],
)
async def test_errors_in_azures_words_are_typed(status: int, error: object, expected: type[ProviderError]) -> None:
    with pytest.raises(ProviderError) as caught:
        await answer(replying(json.dumps({"error": error}).encode(), status=status), **AZURE)
    assert type(caught.value) is expected
    assert caught.value.attribution == ("provider" if expected is RefusedError else "operator")
