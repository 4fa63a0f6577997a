from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable

import httpx
import pytest

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    InvalidSettingsError,
    OverloadedError,
    ProviderError,
    ProviderNetworkError,
    ProviderTimeoutError,
)
from perdure.providers.http import FOREIGN, MAX_ERROR_BODY, MAX_REPLY, UNSENT, Http, Served, served_models, typed_errors
from tests.providers.serving import KEY, streamed
from tests.providers.sockets import serve


def connection(handler: Callable[[httpx.Request], httpx.Response], key: str = KEY) -> Http:
    return Http(
        "openai",
        "https://models.example/v1/",
        {"authorization": f"Bearer {key}"},
        secrets=(key,),
        transport=httpx.MockTransport(handler),
    )


async def body_of(http: Http) -> bytes:
    async with http.post("/chat/completions", {"a": 1}) as reply:
        return b"".join([chunk async for chunk in reply.chunks()])


def test_every_error_class_of_httpx_is_mapped_by_name() -> None:
    classes = {thing for _, thing in inspect.getmembers(httpx, inspect.isclass) if issubclass(thing, Exception)}
    assert classes
    assert classes <= set(FOREIGN)


def made(kind: type[Exception]) -> Exception:
    if kind is UnicodeEncodeError:
        return UnicodeEncodeError("ascii", f"Bearer {KEY}", 0, 1, "ordinal not in range")
    if issubclass(kind, httpx.HTTPStatusError):
        request = httpx.Request("POST", "https://models.example")
        return kind(f"Bearer {KEY}", request=request, response=httpx.Response(500, request=request))
    if kind is ExceptionGroup:
        return ExceptionGroup(f"Bearer {KEY}", [OverflowError(f"Bearer {KEY}")])
    if kind in (httpx.StreamConsumed, httpx.StreamClosed, httpx.ResponseNotRead, httpx.RequestNotRead):
        return kind()
    return kind(f"Bearer {KEY}") if not issubclass(kind, httpx.ConnectError) else kind("refused")


@pytest.mark.parametrize("kind", list(FOREIGN))
def test_every_foreign_error_becomes_one_of_ours_and_nothing_of_it_comes_along(kind: type[Exception]) -> None:
    with pytest.raises(ProviderError) as caught, typed_errors("openai"):
        raise made(kind)
    assert type(caught.value) is FOREIGN[kind][0]
    assert caught.value.sent is not issubclass(kind, UNSENT)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert KEY not in str(caught.value)


async def test_a_request_is_posted_as_json_under_the_base_url_with_the_key() -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=b"{}")

    assert await body_of(connection(handle)) == b"{}"
    assert str(seen[0].url) == "https://models.example/v1/chat/completions"
    assert seen[0].content == b'{"a":1}'
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_bad_status_is_the_typed_error_of_its_body_whatever_the_content_type() -> None:
    def handle(_: httpx.Request) -> httpx.Response:
        return httpx.Response(400, headers={"content-type": "text/event-stream"}, content=b'{"error":{"message":"no"}}')

    with pytest.raises(BadRequestError, match="no"):
        await body_of(connection(handle))


async def test_an_error_body_that_breaks_off_or_never_ends_still_gives_the_error() -> None:
    def breaks(_: httpx.Request) -> httpx.Response:
        return httpx.Response(503, content=streamed([b"busy "], httpx.ReadError("gone")))

    def floods(_: httpx.Request) -> httpx.Response:
        return httpx.Response(503, content=streamed([b"busy " * 1000] * (MAX_ERROR_BODY // 1000)))

    for handle in (breaks, floods):
        with pytest.raises(OverloadedError, match="busy"):
            await body_of(connection(handle))


async def test_a_reply_without_end_is_refused_before_it_fills_the_memory() -> None:
    piece = b" " * (MAX_REPLY // 8)
    http = connection(lambda _: httpx.Response(200, content=streamed([piece] * 9)))
    with pytest.raises(BadReplyError, match="too large"):
        async with http.post("/embeddings", {}) as reply:
            await reply.read()


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        assert request.url.host == "models.example"
        return httpx.Response(307, headers={"location": "https://elsewhere.example/"})

    with pytest.raises(BadRequestError, match="base_url"):
        await body_of(connection(handle))


@pytest.mark.parametrize("key", ["sk-\u00e9\u4e16", "sk-a\nb"])
async def test_a_key_that_no_header_can_hold_is_a_typed_error_without_the_key(key: str) -> None:
    async with serve(Fickle(good=1)) as url:
        http = Http("openai", url, {"authorization": f"Bearer {key}"}, secrets=(key,))
        with pytest.raises((AuthenticationError, BadRequestError), match="key") as caught:
            await body_of(http)
        await http.close()
    assert key not in str(caught.value)


@pytest.mark.parametrize("proxy", ["socks9://u:hunter2@proxy.example", "http://u:hunter2@proxy.example:port"])
def test_a_proxy_that_cannot_be_used_is_a_setting_to_mend(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(InvalidSettingsError, match="ALL_PROXY") as caught:
        Http("openai", "https://models.example/v1", {})
    assert "hunter2" not in str(caught.value)


async def test_silence_is_a_timeout_and_a_refused_connection_a_network_error() -> None:
    async with serve(Fickle(good=0, patient=True)) as url:
        http = Http("openai", url, {}, read_timeout=0.05)
        with pytest.raises(ProviderTimeoutError):
            await body_of(http)
        await http.close()
    http = Http("openai", url, {})
    with pytest.raises(ProviderNetworkError, match="no connection"):
        await body_of(http)
    await http.close()


class Fickle:
    """A server that answers ``good`` requests of a connection and closes it when the next one arrives, as llama.cpp
    sometimes does; a ``patient`` one waits without a word instead."""

    def __init__(self, *, good: int, patient: bool = False) -> None:
        self.good = good
        self.patient = patient
        self.connections = 0
        self.requests = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        for _ in range(self.good):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
            self.requests += 1
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            await writer.drain()
        await reader.read(-1 if self.patient else 1)


async def test_a_request_that_meets_a_dying_kept_connection_is_sent_once_more_on_a_fresh_one() -> None:
    fickle = Fickle(good=1)
    async with serve(fickle) as url:
        http = Http("openai", url, {})
        for _ in range(3):
            assert await body_of(http) == b"ok"
        await http.close()
    assert fickle.requests == 3


async def test_a_fresh_connection_that_dies_is_an_error_at_once() -> None:
    fickle = Fickle(good=0)
    async with serve(fickle) as url:
        http = Http("openai", url, {})
        with pytest.raises(ProviderNetworkError):
            await body_of(http)
        await http.close()
    assert fickle.connections == 1


async def test_nothing_that_is_logged_holds_key_or_body(caplog: pytest.LogCaptureFixture) -> None:
    # A worker that ran in this process has quietened them.
    for chatty in (None, "httpx", "httpcore"):
        caplog.set_level(logging.DEBUG, logger=chatty)
    async with serve(Fickle(good=1)) as url:
        http = Http("openai", url, {"authorization": f"Bearer {KEY}"}, secrets=(KEY,))
        async with http.post("/x", {"image": "aGVsbG8gd29ybGQ=" * 20}) as reply:
            assert [chunk async for chunk in reply.chunks()]
        await http.close()
    assert caplog.text
    assert KEY not in caplog.text
    assert "aGVsbG8gd29ybGQ=" not in caplog.text


async def test_the_models_of_a_local_server_are_listed() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/models"
        return httpx.Response(
            200, json={"object": "list", "data": [{"id": "llama3.2"}, {"id": ""}, "x", {"id": "\x1b[31mred"}]}
        )

    assert await served_models("http://localhost:1/v1", httpx.MockTransport(handle)) == Served(("llama3.2",))


@pytest.mark.parametrize(
    ("status", "body", "instead"),
    [
        (200, b"<html>", "answers, but not with a list of models"),
        (200, b"[1]", "answers, but not with a list of models"),
        (200, b"null", "answers, but not with a list of models"),
        (200, b'{"data": 3}', "answers, but not with a list of models"),
        (200, b"\xff", "answers, but not with a list of models"),
        (200, b'{"data": null}', "answers, and has no model"),
        (200, b'{"data": []}', "answers, and has no model"),
        (500, b'{"data": [{"id": "x"}]}', "answers with status 500"),
    ],
)
async def test_a_server_without_models_is_told_by_what_it_answers(status: int, body: bytes, instead: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=body))
    assert await served_models("http://localhost:1/v1", transport) == Served(instead=instead)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_port_that_cannot_be_is_a_typed_error(host: str) -> None:
    http = Http("openai", f"http://{host}:99999/v1", {})
    with pytest.raises(ProviderError):
        await body_of(http)
    await http.close()
    assert await served_models(f"http://{host}:99999/v1") == Served(instead="does not answer")
