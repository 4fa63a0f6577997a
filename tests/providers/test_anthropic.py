from __future__ import annotations

import json

import httpx
import pytest

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    OverloadedError,
    ProviderError,
    QuotaError,
    RateLimitedError,
)
from perdure.contracts.messages import CallPart, HostedPart, Opaque, ReasoningPart, TextPart
from perdure.contracts.usage import Usage
from perdure.providers.anthropic import MOST_CONTINUATIONS
from tests.providers.anthropic_serving import (
    MODEL,
    ORIGIN,
    Json,
    answer,
    block,
    end,
    events,
    serving,
    start,
    text,
    thinking,
    tool_use,
)
from tests.providers.serving import KEY, SSE, Handler, asking, pieces_of, replying

SEARCH: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


async def test_a_streamed_answer_becomes_one_message() -> None:
    stream = events(
        start(), {"type": "ping"}, thinking(0, "h", "m"), text(1, "I ", "look."), tool_use(2, '{"path":', '"a"}'),
        end("tool_use"),
    )  # fmt: skip
    message = await answer(replying(stream))
    assert message.parts == (
        ReasoningPart(text="hm", opaque=Opaque(origin=ORIGIN, data={"type": "thinking", "signature": "c2ln"})),
        TextPart(text="I look."),
        CallPart(
            call_id="t1s1c1",
            tool="read",
            arguments_text='{"path":"a"}',
            arguments={"path": "a"},
            provider_call_id="toolu_1",
        ),
    )
    assert message.finish == "calls"
    assert message.usage == Usage(requests=1, input_tokens=15, cached_tokens=3, cache_write_tokens=2, output_tokens=4)
    assert message.provider_message_id == "msg_1"
    assert message.cost.nano_dollars > 0


async def test_the_request_goes_where_the_endpoint_says_with_version_and_key_in_their_headers() -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, headers=SSE, content=events(start(), text(0, "Hi"), end()))

    await answer(handle)
    mine = serving(handle, name="mine", base_url="https://x.example/v1/")
    await pieces_of(mine, asking(model="mine:m"))
    assert [str(request.url) for request in seen] == [
        "https://api.anthropic.com/v1/messages",
        "https://x.example/v1/messages",
    ]
    assert [request.headers["anthropic-version"] for request in seen] == ["2023-06-01"] * 2
    assert seen[0].headers["x-api-key"] == KEY
    assert seen[1].headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(seen[0].content)["stream"] is True


async def test_a_tools_dotted_name_is_mapped_there_and_back() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        name = json.loads(request.content)["tools"][0]["name"]
        return httpx.Response(200, headers=SSE, content=events(start(), tool_use(0, name=name), end("tool_use")))

    message = await answer(handle, asking("fs.read", model=MODEL))
    assert message.calls[0].tool == "fs.read"


def paused(*, rounds: int, seen: list[Json]) -> Handler:
    """Answers that pause ``rounds`` times; ``seen`` gathers the requests."""

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        number = len(seen)
        body = (
            events(start(f"msg_{number}"), text(0, f"part {number}. "), block(1, SEARCH), end("pause_turn"))
            if number <= rounds
            else events(start(f"msg_{number}"), block(0, FOUND), text(1, "Done."), tool_use(2), end("tool_use"))
        )
        return httpx.Response(200, headers=SSE, content=body)

    return handle


async def test_a_paused_answer_is_continued_with_its_content_unchanged_and_becomes_one_message() -> None:
    seen: list[Json] = []
    message = await answer(paused(rounds=2, seen=seen))
    first = [{"type": "text", "text": "part 1. "}, SEARCH]
    second = [{"type": "text", "text": "part 2. "}, SEARCH]
    assert [request["messages"][1:] for request in seen] == [
        [],
        [{"role": "assistant", "content": first}],
        [{"role": "assistant", "content": [*first, *second]}],
    ]
    assert {key for request in seen for key in request if request[key] != seen[0].get(key)} == {"messages"}
    assert [part.kind for part in message.parts] == ["text", "hosted", "text", "hosted", "hosted", "text", "call"]
    assert (message.text, message.finish) == ("part 1. part 2. Done.", "calls")
    assert message.provider_message_id == "msg_1"
    assert message.usage == Usage(requests=3, input_tokens=45, cached_tokens=9, cache_write_tokens=6, output_tokens=12)


async def test_an_answer_that_stays_paused_ends_as_cut_after_a_bounded_number_of_requests() -> None:
    seen: list[Json] = []
    message = await answer(paused(rounds=100, seen=seen))
    assert len(seen) == MOST_CONTINUATIONS + 1 == message.usage.requests
    assert message.finish == "length"


async def test_a_pause_that_says_nothing_is_not_continued() -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, headers=SSE, content=events(start(), end("pause_turn")))

    with pytest.raises(BadReplyError, match="empty"):
        await answer(handle)
    assert len(seen) == 1


async def test_an_error_while_a_paused_answer_is_continued_says_that_text_was_delivered() -> None:
    seen: list[Json] = []
    first = paused(rounds=1, seen=seen)

    def handle(request: httpx.Request) -> httpx.Response:
        return first(request) if not seen else httpx.Response(529)

    with pytest.raises(OverloadedError) as caught:
        await answer(handle)
    assert caught.value.delivered


async def test_the_container_of_a_paused_answer_goes_along() -> None:
    seen: list[Json] = []
    container = {"id": "container_1", "expires_at": "2100-01-01T00:00:00Z"}

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        ending = end("pause_turn" if len(seen) == 1 else "end_turn")
        ending[0]["delta"]["container"] = container
        return httpx.Response(200, headers=SSE, content=events(start(f"msg_{len(seen)}"), text(0, "x"), ending))

    message = await answer(handle)
    assert [request.get("container") for request in seen] == [None, "container_1"]
    assert message.parts[-1] == TextPart(text="x", opaque=Opaque(origin=ORIGIN, data={"container": container}))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (events({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}), OverloadedError),
        (events({"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}), RateLimitedError),
        (events({"type": "error", "error": {"type": "api_error", "message": "oops"}}), OverloadedError),
        (events({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}), BadRequestError),
        (events({"type": "error", "error": {"type": "billing_error", "message": "pay"}}), QuotaError),
        (b'event: error\ndata: {"code":500,"message":"broke","type":"server_error"}\n\n', OverloadedError),
        (b"event: error\ndata: it broke\n\n", BadReplyError),
        (b'data: {"error": {"type": "authentication_error", "message": "no"}}\n\n', AuthenticationError),
        (b'{"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}', OverloadedError),
        (b'[{"error": {"message": "slow down", "status": "RESOURCE_EXHAUSTED"}}]', RateLimitedError),
        (b'{"detail": "it broke"}', BadReplyError),
    ],
)
async def test_an_error_inside_a_good_reply_is_the_error_it_stands_for(
    body: bytes, expected: type[ProviderError]
) -> None:
    with pytest.raises(ProviderError) as caught:
        await answer(replying(body, headers={**SSE, "request-id": "req_7"}))
    assert type(caught.value) is expected
    assert (caught.value.delivered, caught.value.request_id) == (False, "req_7")


async def test_an_error_in_the_middle_of_the_text_says_that_text_was_delivered() -> None:
    broken = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(OverloadedError) as caught:
        await answer(replying(events(start(), text(0, "half"), broken)))
    assert caught.value.delivered


async def test_the_key_that_a_server_quotes_back_reaches_no_error() -> None:
    body = json.dumps({"type": "error", "error": {"type": "authentication_error", "message": f"bad key {KEY}"}})
    with pytest.raises(AuthenticationError) as caught:
        await answer(replying(body.encode(), status=401))
    assert KEY not in str(caught.value)


async def test_an_answer_without_its_last_event_is_cut_even_when_its_reason_had_come() -> None:
    with pytest.raises(BadReplyError, match="before the model had finished"):
        await answer(replying(events(start(), text(0, "Hi"), end()[:1])))


async def test_what_the_provider_ran_is_a_part_of_the_message() -> None:
    message = await answer(replying(events(start(), block(0, SEARCH), block(1, FOUND), text(2, "Done."), end())))
    search, found, said = message.parts
    assert search == HostedPart(
        tool="server_tool_use", name="web_search", text='{"query": "x"}', opaque=Opaque(origin=ORIGIN, data=SEARCH)
    )
    assert found == HostedPart(tool="web_search_tool_result", opaque=Opaque(origin=ORIGIN, data=FOUND))
    assert said == TextPart(text="Done.")
