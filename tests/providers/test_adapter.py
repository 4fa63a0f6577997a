from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from perdure.contracts.errors import BadReplyError, ProviderNetworkError
from perdure.providers.stream import TextPiece
from tests.providers.protocols import PROTOCOLS, Spoken
from tests.providers.serving import SSE, replying

each_protocol = pytest.mark.parametrize("spoken", PROTOCOLS.values(), ids=PROTOCOLS)


class Open(httpx.AsyncByteStream):
    """A body that never ends; ``closed`` says that nobody reads it any more."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.body
        await asyncio.Event().wait()

    async def aclose(self) -> None:
        self.closed.set()


@each_protocol
async def test_leaving_early_ends_the_request(spoken: Spoken) -> None:
    body = Open(spoken.said)
    adapter = spoken.serving(lambda _: httpx.Response(200, headers=SSE, stream=body))
    async with aclosing(adapter.stream(spoken.asking())) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextPiece):
                break
    assert body.closed.is_set()
    await adapter.close()


@each_protocol
async def test_a_server_that_keeps_the_connection_open_after_the_end_holds_nobody_up(spoken: Spoken) -> None:
    async with asyncio.timeout(10):
        message = await spoken.answer(lambda _: httpx.Response(200, headers=SSE, stream=Open(spoken.reply)))
    assert message.text == "Hi"


@each_protocol
@pytest.mark.parametrize("tail", [b"", b"\n\ndata: [DO"])
async def test_a_reply_that_ends_before_its_provider_had_finished_is_an_error_that_names_the_request(
    spoken: Spoken, tail: bytes
) -> None:
    headers = {**SSE, "x-request-id": "req_7"}
    with pytest.raises(BadReplyError) as caught:
        await spoken.answer(replying(spoken.said, tail, headers=headers))
    assert (caught.value.request_id, caught.value.delivered, caught.value.retryable) == ("req_7", True, True)


@each_protocol
@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"not json", "no event stream"),
        (b"Welcome!\nPlease log in.\n\n", "no event stream"),
        (b" <!doctype html><p>Please log in.", "a web page"),
        (b'{"ready": true}', "JSON, but no model's answer"),
    ],
)
async def test_an_answer_of_something_that_is_no_models_server_is_told_so_and_not_asked_for_again(
    spoken: Spoken, body: bytes, what: str
) -> None:
    with pytest.raises(BadReplyError, match=f"{what}: is base_url right") as caught:
        await spoken.answer(replying(body))
    assert (caught.value.retryable, caught.value.attribution) == (False, "operator")


@each_protocol
@pytest.mark.parametrize("body", [b"", b": OPENROUTER PROCESSING\n\n", b"event: ping\n\n", b'data: {"a"'])
async def test_a_stream_that_ends_before_anything_came_may_be_asked_for_again(spoken: Spoken, body: bytes) -> None:
    with pytest.raises(BadReplyError) as caught:
        await spoken.answer(replying(body))
    assert caught.value.retryable


@each_protocol
async def test_a_connection_that_breaks_is_an_error_before_the_end_and_harmless_after_it(spoken: Spoken) -> None:
    broken = httpx.RemoteProtocolError("peer closed connection")
    with pytest.raises(ProviderNetworkError) as caught:
        await spoken.answer(replying(spoken.said, fail=broken))
    assert caught.value.delivered
    assert (await spoken.answer(replying(spoken.reply, fail=broken))).text == "Hi"


@each_protocol
async def test_a_gateways_done_adds_nothing_to_a_whole_answer(spoken: Spoken) -> None:
    assert (await spoken.answer(replying(spoken.reply, b"data: [DONE]\n\n"))).text == "Hi"


@each_protocol
async def test_a_tools_dotted_name_is_sent_in_a_form_that_the_server_takes(spoken: Spoken) -> None:
    sent = json.dumps((await spoken.sent(spoken.asking("fs.read")))["tools"])
    assert '"fs_read"' in sent
    assert "fs.read" not in sent


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("chat", {"tool_choice": "required"}),
        ("responses", {"tool_choice": "required"}),
        ("anthropic", {"tool_choice": {"type": "any"}, "thinking": None}),
        ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
    ],
)
async def test_a_call_that_must_be_made_is_demanded_in_each_protocols_words(name: str, sent: dict[str, object]) -> None:
    spoken = PROTOCOLS[name]
    request = spoken.asking("read").model_copy(update={"must_call": True})
    body = await spoken.sent(request, flags={"thinking": 2_048} if name == "anthropic" else {})
    assert {key: body.get(key) for key in sent} == sent
    free = await spoken.sent(spoken.asking("read"))
    assert not {"tool_choice", "toolConfig"} & set(free)
