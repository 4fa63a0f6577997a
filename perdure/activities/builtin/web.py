"""Fetching a web page."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

import httpx

from perdure.activities.builtin.addresses import GuardedTransport, Resolver, resolve
from perdure.activities.builtin.pages import page_text
from perdure.activities.declaration import tool
from perdure.activities.results import SHOWN_BYTES, cut_text
from perdure.activities.threads import in_thread
from perdure.contracts.errors import ToolError
from perdure.contracts.tools import ToolOutput

TEXTUAL = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")
TEXTUAL_ENDINGS = ("+json", "+xml")
HTML = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class Web:
    """What ``fetch_url`` may reach and take in. ``private_addresses`` allows this machine and its own network."""

    private_addresses: bool = False
    timeout: timedelta = timedelta(seconds=30)
    most_bytes: int = 2 * 1024 * 1024
    most_redirects: int = 5
    resolver: Resolver = field(default=resolve)

    @tool(effect="network", idempotent=True, deadline=timedelta(minutes=2))
    async def fetch_url(self, url: str) -> ToolOutput:
        """Fetch a web page or another text over http or https. HTML comes as readable text with its links.

        Args:
            url: The full address, starting with http:// or https://.
        """
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                return await self._fetch(_checked(url))
        except TimeoutError:
            raise ToolError(f"{url} did not answer within {self.timeout.total_seconds():g} s.") from None
        except httpx.TooManyRedirects:
            raise ToolError(f"{url} redirects more than {self.most_redirects} times.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ToolError(f"{url} cannot be fetched: {str(error) or type(error).__name__}.") from None

    async def _fetch(self, url: httpx.URL) -> ToolOutput:
        transport = GuardedTransport(httpx.AsyncHTTPTransport(), private=self.private_addresses, resolver=self.resolver)
        # A proxy of the environment would look names up by itself, past the guard.
        async with (
            httpx.AsyncClient(
                transport=transport,
                trust_env=False,
                follow_redirects=True,
                max_redirects=self.most_redirects,
                timeout=self.timeout.total_seconds(),
                headers={"User-Agent": "perdure", "Accept": "text/html, text/*, application/json, */*;q=0.5"},
            ) as client,
            client.stream("GET", url) as response,
        ):
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > self.most_bytes:
                    break
            return await self._shown(response, bytes(body[: self.most_bytes]), whole=len(body) <= self.most_bytes)

    async def _shown(self, response: httpx.Response, body: bytes, *, whole: bool) -> ToolOutput:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        text = await _text(response, kind, body)
        first = f"{response.url} ({response.status_code} {response.reason_phrase}, {kind or 'no content type'})"
        if not whole:
            first += f"\n[Only the first {self.most_bytes:,} bytes were fetched.]"
        return ToolOutput(
            status="ok" if response.is_success else "error", text=f"{first}\n\n{cut_text(text, SHOWN_BYTES)}"
        )


def _checked(url: str) -> httpx.URL:
    parsed = httpx.URL(url.strip())
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ToolError(f"{url!r} cannot be fetched: give a full address that starts with http:// or https://.")
    return parsed


async def _text(response: httpx.Response, kind: str, body: bytes) -> str:
    textual = kind.startswith(TEXTUAL) or kind.endswith(TEXTUAL_ENDINGS) or not kind
    if not textual or b"\0" in body[:8192]:
        return f"[Binary content, {len(body):,} bytes: it has no text form.]"
    try:
        text = body.decode(response.charset_encoding or "utf-8", errors="replace")
    except LookupError:
        text = body.decode(errors="replace")
    if kind in HTML:
        # Parsing a hostile page takes its time, and must not take the worker's.
        return await in_thread(lambda: page_text(text, str(response.url)), name="page text")
    return text
