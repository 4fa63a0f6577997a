from __future__ import annotations

import json

import httpx
import pytest

from perdure.contracts.errors import (
    BadReplyError,
    BadRequestError,
    OverloadedError,
    ProviderError,
    ProviderNetworkError,
    RateLimitedError,
    RefusedError,
)
from perdure.contracts.messages import CallPart, Opaque, ReasoningPart, TextPart
from perdure.contracts.usage import Usage
from perdure.providers.stream import TextPiece
from tests.providers.responses_serving import (
    MODEL,
    ORIGIN,
    added,
    answer,
    begun,
    call,
    completed,
    done,
    event,
    events,
    message,
    reasoning,
    response,
    serving,
    text,
)
from tests.providers.serving import KEY, SSE, asking, pieces_of, replying


def failed(code: str) -> dict[str, object]:
    return event("failed", response=response(status="failed", error={"code": code, "message": "x"}))


async def test_a_streamed_answer_becomes_one_message_with_everything_that_goes_back() -> None:
    thought, said, asked = reasoning("hm"), message("I look.", phase="commentary"), call()
    stream = events(
        begun(),
        added(0, thought),
        event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="h"),
        event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="m"),
        done(0, thought),
        added(1, said),
        text("I ", 1),
        text("look.", 1),
        done(1, said),
        added(2, asked),
        event("function_call_arguments.delta", output_index=2, delta='{"path":'),
        event("function_call_arguments.delta", output_index=2, delta='"a"}'),
        done(2, asked),
        completed(thought, said, asked),
    )
    found = await answer(replying(stream))
    kept = {key: value for key, value in said.items() if key != "content"}
    assert found.parts == (
        ReasoningPart(
            text="hm",
            opaque=Opaque(
                origin=ORIGIN,
                data={"item": {**thought, "summary": [{"type": "summary_text"}]}, "text_at": ["summary", 0]},
            ),
        ),
        TextPart(
            text="I look.",
            opaque=Opaque(
                origin=ORIGIN, data={"item": kept, "content": {"type": "output_text", "annotations": []}}
            ),
        ),
        CallPart(
            call_id="t1s1c1",
            tool="read",
            arguments_text='{"path":"a"}',
            arguments={"path": "a"},
            provider_call_id="call_1",
            opaque=Opaque(
                origin=ORIGIN, data={"item": {"type": "function_call", "id": "fc_1", "status": "completed"}}
            ),
        ),
    )  # fmt: skip
    assert found.finish == "calls"
    assert found.usage == Usage(requests=1, input_tokens=10, cached_tokens=3, output_tokens=7, reasoning_tokens=4)
    assert found.provider_message_id == "resp_1"
    assert found.cost.nano_dollars > 0


async def test_a_whole_reply_is_the_same_message_as_a_streamed_one() -> None:
    output = (reasoning("hm"), message("I look."), call())
    whole = await answer(lambda _: httpx.Response(200, json=response(*output)))
    assert whole == await answer(replying(events(begun(), completed(*output))))
    assert whole.text == "I look."


async def test_the_request_goes_where_the_endpoint_says_and_leaves_nothing_there() -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=response(message("Hi")))

    await answer(handle)
    await answer(handle, name="mine", base_url="https://x.example/openai/v1/", key_header="api-key")
    assert [str(request.url) for request in seen] == [
        "https://api.openai.com/v1/responses",
        "https://x.example/openai/v1/responses",
    ]
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert seen[1].headers["api-key"] == KEY
    body = json.loads(seen[0].content)
    assert (body["model"], body["store"], body["include"]) == ("gpt-5-mini", False, ["reasoning.encrypted_content"])


async def test_a_tools_dotted_name_is_mapped_there_and_back() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        name = json.loads(request.content)["tools"][0]["name"]
        return httpx.Response(200, json=response(call(name)))

    found = await answer(handle, request=asking("fs.read", model=MODEL))
    assert found.calls[0].tool == "fs.read"


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": None}, RateLimitedError),
        ({"type": "error", "code": None, "message": "it broke"}, BadReplyError),
        ({"type": "error", "error": {"type": "server_error", "message": "busy"}}, OverloadedError),
        ({"error": {"code": 500, "type": "server_error", "message": "busy"}}, OverloadedError),
        (failed("server_error"), OverloadedError),
        (failed("invalid_prompt"), RefusedError),
        (failed("invalid_image"), BadRequestError),
        (event("failed", response=response(status="failed", error=None)), BadReplyError),
        (event("completed", response=response(status="cancelled")), BadReplyError),
    ],
)  # fmt: skip
async def test_an_error_inside_a_good_reply_is_the_error_it_stands_for(
    failure: dict[str, object], expected: type[ProviderError]
) -> None:
    for before, delivered in ((), False), ((added(0, message("")), text("half")), True):
        with pytest.raises(ProviderError) as caught:
            await answer(replying(events(begun(), *before, failure), headers={**SSE, "x-request-id": "req_7"}))
        assert type(caught.value) is expected
        assert caught.value.delivered is delivered
        assert caught.value.request_id == "req_7"


async def test_a_whole_reply_may_hold_a_failure_too() -> None:
    failure = response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow down"})
    with pytest.raises(RateLimitedError):
        await answer(lambda _: httpx.Response(200, json=failure))
    with pytest.raises(BadReplyError, match="it broke"):
        await answer(lambda _: httpx.Response(200, json={"detail": "it broke"}))


async def test_an_end_without_the_last_event_is_an_error_and_never_a_short_answer() -> None:
    half = (begun(), added(0, message("")), text("half"))
    for tail in (b"", b"data: [DONE]\n\n", events(event("output_text.done", output_index=0, text="half"))):
        with pytest.raises(BadReplyError, match="before the model had finished") as caught:
            await answer(replying(events(*half) + tail))
        assert caught.value.delivered
    with pytest.raises(ProviderNetworkError):
        await answer(replying(events(*half), fail=httpx.ReadError("broke")))


@pytest.mark.parametrize("status", ["queued", "in_progress"])
async def test_an_answer_that_the_provider_has_not_made_yet_is_no_answer(status: str) -> None:
    with pytest.raises(BadReplyError, match="before the model had finished"):
        await answer(lambda _: httpx.Response(200, json=response(status=status)))


async def test_what_follows_the_last_event_is_not_read() -> None:
    late = events(completed(message("Hi")), text("ghost"), {"type": "error", "message": "late"})
    assert (await answer(replying(late))).text == "Hi"


async def test_text_arrives_piece_by_piece() -> None:
    stream = events(begun(), added(0, message("")), text("a"), text("b"), completed(message("ab")))
    told = [piece.text for piece in await pieces_of(serving(replying(stream))) if isinstance(piece, TextPiece)]
    assert told == ["a", "b", ""]
