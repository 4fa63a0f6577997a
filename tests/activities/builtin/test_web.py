from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from perdure.activities.builtin.web import Web
from perdure.activities.functions import tool_from
from perdure.activities.results import SHOWN_BYTES
from perdure.contracts.tools import ToolOutput
from tests.activities.calling import called


def reply(body: bytes = b"", *headers: str, status: str = "200 OK") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


class Site:
    """An HTTP server on this machine with a prepared reply for each path; ``None`` never answers."""

    def __init__(self) -> None:
        self.replies: dict[str, bytes | None] = {}
        self.requests: list[str] = []
        self.address = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(request)
            prepared = self.replies[request.split()[1]]
            if prepared is None:
                await reader.read()
            else:
                writer.write(prepared)
                await writer.drain()
        except OSError:
            return
        finally:
            writer.close()

    async def fetched(self, path: str, web: Web | None = None) -> ToolOutput:
        return await called((web or Web(private_addresses=True)).fetch_url, url=self.address + path)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield site


def test_it_declares_that_it_uses_the_network_and_may_run_twice() -> None:
    spec = tool_from(Web().fetch_url).spec

    assert (spec.name, spec.effect, spec.idempotent) == ("fetch_url", "network", True)
    assert list(spec.parameters["properties"]) == ["url"]  # type: ignore[arg-type]  # a schema is JSON
    assert spec.deadline > Web().timeout


async def test_a_page_comes_as_text_with_its_address_and_status(site: Site) -> None:
    site.replies["/"] = reply(
        "<title>Grüße</title><p>Hej <a href='/x'>du</a>".encode("latin-1"), "Content-Type: text/html; charset=latin-1"
    )

    output = await site.fetched("/")

    assert output.status == "ok"
    assert output.text == f"{site.address}/ (200 OK, text/html)\n\nGrüße\n\nHej [du]({site.address}/x)"
    assert f"Host: {site.address.removeprefix('http://')}" in site.requests[0].title().replace("host", "Host")


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/ld+json", "text/csv"])
async def test_other_text_comes_as_it_is(site: Site, kind: str) -> None:
    site.replies["/"] = reply(b'{"a":  1}\n', f"Content-Type: {kind}")

    assert (await site.fetched("/")).text == f'{site.address}/ (200 OK, {kind})\n\n{{"a":  1}}\n'


@pytest.mark.parametrize(("kind", "body"), [("image/png", b"\x89PNG"), ("text/plain", b"a\0b")])
async def test_binary_content_is_described(site: Site, kind: str, body: bytes) -> None:
    site.replies["/"] = reply(body, f"Content-Type: {kind}")

    assert f"[Binary content, {len(body)} bytes" in (await site.fetched("/")).text


async def test_an_unknown_charset_is_no_reason_to_fail(site: Site) -> None:
    site.replies["/"] = reply(b"hej", "Content-Type: text/plain; charset=klingon")

    assert (await site.fetched("/")).text.endswith("hej")


async def test_an_error_status_is_an_error_with_what_the_server_said(site: Site) -> None:
    site.replies["/"] = reply(b"gone fishing", "Content-Type: text/plain", status="404 Not Found")

    output = await site.fetched("/")

    assert output == ToolOutput(status="error", text=f"{site.address}/ (404 Not Found, text/plain)\n\ngone fishing")


async def test_a_redirect_is_followed_and_the_final_address_is_told(site: Site) -> None:
    site.replies["/a"] = reply(b"", "Location: /b", status="302 Found")
    site.replies["/b"] = reply(b"here", "Content-Type: text/plain")

    assert (await site.fetched("/a")).text == f"{site.address}/b (200 OK, text/plain)\n\nhere"


async def test_redirects_are_bounded(site: Site) -> None:
    site.replies["/a"] = reply(b"", "Location: /a", status="302 Found")

    output = await site.fetched("/a")

    assert output == ToolOutput(status="error", text=f"{site.address}/a redirects more than 5 times.")
    assert len(site.requests) == 6


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254 is a link-local or metadata address"),
        ("http://ada:hunter2@127.0.0.1/", "carries a user or a password"),
        ("file:///etc/passwd", "Only http and https can be fetched"),
    ],
)
async def test_a_redirect_cannot_lead_where_a_request_may_not(site: Site, target: str, said: str) -> None:
    site.replies["/"] = reply(b"", f"Location: {target}", status="302 Found")

    output = await site.fetched("/")

    assert output.status == "error"
    assert said in output.text


async def test_by_default_this_machine_is_not_reached(site: Site) -> None:
    output = await site.fetched("/", Web())

    assert output.status == "error"
    assert "127.0.0.1 is not on the public internet" in output.text
    assert site.requests == []


async def test_a_large_body_is_fetched_to_a_bound_and_shown_to_a_smaller_one(site: Site) -> None:
    site.replies["/"] = reply(b"x" * 1_000_000, "Content-Type: text/plain")

    output = await site.fetched("/", Web(private_addresses=True, most_bytes=200_000))

    assert "[Only the first 200,000 bytes were fetched.]" in output.text
    assert output.text.endswith("of 200,000 bytes are left out. Ask for a part to see more.]")
    assert len(output.text.encode()) < SHOWN_BYTES + 500


async def test_what_unpacks_to_more_than_the_bound_is_cut_too(site: Site) -> None:
    site.replies["/"] = reply(gzip.compress(b"x" * 10_000_000), "Content-Type: text/plain", "Content-Encoding: gzip")

    output = await site.fetched("/", Web(private_addresses=True, most_bytes=100_000))

    assert "[Only the first 100,000 bytes were fetched.]" in output.text


async def test_a_server_that_never_answers_is_given_up(site: Site) -> None:
    site.replies["/"] = None

    output = await site.fetched("/", Web(private_addresses=True, timeout=timedelta(milliseconds=100)))

    assert output == ToolOutput(status="error", text=f"{site.address}/ did not answer within 0.1 s.")


async def test_a_proxy_of_the_environment_is_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.replies["/"] = reply(b"direct", "Content-Type: text/plain")

    assert (await site.fetched("/")).text.endswith("direct")


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "ftp://example.org/", "http://", "http:///x", "http://a:b/", "data:,x"],
)
async def test_what_is_no_web_address_is_told_in_a_sentence(url: str) -> None:
    output = await called(Web().fetch_url, url=url)

    assert output.status == "error"
    assert "cannot be fetched" in output.text
    assert "\n" not in output.text


async def test_a_server_that_is_not_there_is_told_in_a_sentence() -> None:
    output = await called(Web(private_addresses=True).fetch_url, url="http://127.0.0.1:9/")

    assert output.status == "error"
    assert output.text.startswith("http://127.0.0.1:9/ cannot be fetched: ")
