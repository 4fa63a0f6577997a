"""HTTP to one provider: the only file that knows httpx's errors, and the last place where a key is seen.

Trap: a server may close a kept connection just as the next request goes out (seen with llama.cpp in 2 of 25 requests
after a streamed reply). That request never got a byte back, so it is sent once more, on a connection of its own.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
from pydantic import JsonValue

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    InvalidSettingsError,
    ProviderError,
    ProviderNetworkError,
    ProviderTimeoutError,
)
from perdure.providers.faults import fault, request_id_of
from perdure.providers.lenient import a_list, a_text, an_object, loads

MAX_REPLY = 64 * 1024 * 1024
"""Bytes of a reply that is not streamed, at most."""

MAX_ERROR_BODY = 1024 * 1024
"""Bytes of an error reply that are read at most."""

_PROBE_TIMEOUT = 0.5

FOREIGN: Mapping[type[Exception], tuple[type[ProviderError], str]] = {
    httpx.ConnectTimeout: (ProviderTimeoutError, "no connection came about in time"),
    httpx.ReadTimeout: (ProviderTimeoutError, "the provider was silent for too long"),
    httpx.WriteTimeout: (ProviderTimeoutError, "the provider did not take the request in time"),
    httpx.PoolTimeout: (ProviderTimeoutError, "no connection was free in time"),
    httpx.TimeoutException: (ProviderTimeoutError, "the provider took too long"),
    httpx.ConnectError: (ProviderNetworkError, "no connection"),
    httpx.ReadError: (ProviderNetworkError, "the connection broke while the answer was read"),
    httpx.WriteError: (ProviderNetworkError, "the connection broke while the request was sent"),
    httpx.CloseError: (ProviderNetworkError, "the connection broke while it was closed"),
    httpx.NetworkError: (ProviderNetworkError, "the network failed"),
    httpx.ProxyError: (ProviderNetworkError, "the proxy failed"),
    httpx.RemoteProtocolError: (ProviderNetworkError, "the provider ended the connection without a whole reply"),
    httpx.LocalProtocolError: (BadRequestError, "the request cannot be sent: a header, such as the key, is not valid"),
    httpx.ProtocolError: (ProviderNetworkError, "the provider does not speak HTTP as it should"),
    httpx.UnsupportedProtocol: (BadRequestError, "base_url is no http:// or https:// address"),
    httpx.InvalidURL: (BadRequestError, "base_url is no valid address"),
    httpx.DecodingError: (BadReplyError, "the reply's compression cannot be read"),
    httpx.TooManyRedirects: (BadReplyError, "the address redirects without end"),
    httpx.TransportError: (ProviderNetworkError, "the connection failed"),
    httpx.RequestError: (ProviderNetworkError, "the request failed"),
    httpx.HTTPStatusError: (BadReplyError, "the provider answered with an error"),
    httpx.HTTPError: (ProviderNetworkError, "the request failed"),
    httpx.StreamConsumed: (BadReplyError, "the reply was read twice"),
    httpx.StreamClosed: (BadReplyError, "the reply was closed before it was read"),
    httpx.ResponseNotRead: (BadReplyError, "the reply was used before it was read"),
    httpx.RequestNotRead: (BadReplyError, "the request was used before it was read"),
    httpx.StreamError: (BadReplyError, "the reply cannot be read"),
    httpx.CookieConflict: (BadReplyError, "the provider set conflicting cookies"),
    UnicodeEncodeError: (AuthenticationError, "the key has characters that no key can have"),
    OSError: (ProviderNetworkError, "the connection failed"),
    ExceptionGroup: (ProviderNetworkError, "the connection failed"),
}
"""Every error of httpx, what it is to us and what it means to a person. Their own texts may quote a header. A group
comes of attempts to connect that ran at once."""

UNSENT = (
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ConnectError,
    httpx.ProxyError,
    httpx.LocalProtocolError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
    UnicodeEncodeError,
)
"""Errors of requests that never reached the provider."""

_FOREIGN_ERRORS = tuple(FOREIGN)


@contextmanager
def typed_errors(provider: str) -> Iterator[None]:
    """Raise every foreign error of the block as ours; nothing of the foreign one, which may hold a key, comes along."""
    try:
        yield
    except _FOREIGN_ERRORS as error:
        kind, sentence = next(FOREIGN[parent] for parent in type(error).__mro__ if parent in FOREIGN)
        cause = f": {error}" if isinstance(error, httpx.ConnectError) and str(error) else ""
        typed = kind(provider, sentence + cause)
        typed.sent = not isinstance(error, UNSENT)
        raise typed from None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply whose status was good; its body is read piece by piece."""

    provider: str
    response: httpx.Response
    secrets: tuple[str, ...] = ()
    key_told: str = ""

    @property
    def request_id(self) -> str:
        return request_id_of(self.response.headers, self.secrets)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body, decompressed, as it comes. Raises ProviderError."""
        with typed_errors(self.provider):
            async for chunk in self.response.aiter_bytes():
                yield chunk

    async def read(self, head: bytes = b"", rest: AsyncIterator[bytes] | None = None) -> bytes:
        """The whole body; ``head`` is what was read of it, ``rest`` what follows. Raises ProviderError."""
        body = bytearray(head)
        async for chunk in rest or self.chunks():
            body += chunk
            if len(body) > MAX_REPLY:
                raise self.bad("the reply is too large to read")
        return bytes(body)

    def bad(self, detail: str, *, code: str = "") -> BadReplyError:
        """The error for a reply that cannot be used."""
        return BadReplyError(self.provider, detail, code=code, request_id=self.request_id)

    def astray(self, what: str) -> BadReplyError:
        """The error for a good reply of something that is no model's server: asking again gives the same."""
        error = self.bad(f"the server's answer is {what}: is base_url right?")
        error.retryable, error.attribution = False, "operator"
        return error

    def fault(self, error: JsonValue) -> ProviderError:
        """The typed error that an error inside this good reply stands for."""
        found = fault(self.provider, error, secrets=self.secrets, key_told=self.key_told)
        found.request_id = self.request_id or found.request_id
        return found


class Http:
    """Connections to one provider, kept and reused; the key travels in a header and goes nowhere else."""

    def __init__(
        self,
        provider: str,
        base_url: str,
        headers: Mapping[str, str],
        *,
        secrets: tuple[str, ...] = (),
        key_told: str = "",
        connect_timeout: float = 10.0,
        read_timeout: float = 600.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """``read_timeout`` is the longest silence between two pieces of a reply, in seconds, not the whole reply.
        ``key_told`` goes with the error when the key is refused.

        Raises InvalidSettingsError when the environment names a proxy or certificates that cannot be used.
        """
        self.provider = provider
        self._base_url = base_url.rstrip("/")
        self._headers = {"accept": "text/event-stream, application/json", "user-agent": "perdure", **headers}
        self._secrets = secrets
        self._key_told = key_told
        timeout = httpx.Timeout(read_timeout, connect=connect_timeout, pool=connect_timeout)
        self._kept = _client(timeout, 20, transport)
        self._fresh = _client(timeout, 0, transport)

    @asynccontextmanager
    async def post(
        self,
        path: str,
        payload: Mapping[str, JsonValue] | bytes,
        *,
        headers: Mapping[str, str] | None = None,
        secrets: tuple[str, ...] = (),
    ) -> AsyncIterator[Reply]:
        """Post ``payload``, as JSON where it is no bytes, and give the reply. Leaving the block ends the request.

        ``headers`` go with this request alone, and ``secrets`` are what its errors must not tell, beside the key.
        Raises ProviderError for a failed connection and for any status from 300 on.
        """
        body = payload if isinstance(payload, bytes) else _json(payload)
        secrets = (*self._secrets, *secrets)
        with typed_errors(self.provider):
            response = await self._send(self._base_url + path, body, headers or {})
        try:
            if response.status_code >= 300:
                raise fault(
                    self.provider,
                    await _error_body(response),
                    status=response.status_code,
                    headers=response.headers,
                    secrets=secrets,
                    key_told=self._key_told,
                )
            yield Reply(self.provider, response, secrets, self._key_told)
        finally:
            with suppress(*_FOREIGN_ERRORS):
                await response.aclose()

    async def close(self) -> None:
        """End every connection."""
        with typed_errors(self.provider):
            await self._kept.aclose()
            await self._fresh.aclose()

    async def _send(self, url: str, body: bytes, more: Mapping[str, str]) -> httpx.Response:
        connected = False

        async def trace(event: str, _: Mapping[str, Any]) -> None:
            nonlocal connected
            connected = connected or event.startswith("connection.connect_")

        headers = {"content-type": "application/json", **self._headers, **more}
        request = self._kept.build_request("POST", url, content=body, headers=headers, extensions={"trace": trace})
        try:
            return await self._kept.send(request, stream=True)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if connected:
                raise
        return await self._fresh.send(
            self._fresh.build_request("POST", url, content=body, headers=headers), stream=True
        )


def _json(payload: Mapping[str, JsonValue]) -> bytes:
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _client(timeout: httpx.Timeout, kept: int, transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=kept)
    try:
        verify = True if transport else _certificates()
        return httpx.AsyncClient(timeout=timeout, limits=limits, transport=transport, verify=verify)
    except (ImportError, ValueError, OSError, httpx.InvalidURL):
        # The library's own words may quote a proxy's password.
        raise InvalidSettingsError(
            "The proxy or the certificates that the environment names cannot be used: see HTTPS_PROXY, HTTP_PROXY, "
            "ALL_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
        ) from None


@cache
def _certificates() -> ssl.SSLContext:
    # Reading all authorities takes longer than everything else here, and every provider trusts the same ones.
    return httpx.create_ssl_context()


async def _error_body(response: httpx.Response) -> bytes:
    """What can be had of an error's body: a connection that breaks here must not hide the error itself."""
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_ERROR_BODY:
                break
    except _FOREIGN_ERRORS:
        pass
    return bytes(body)


@dataclass(frozen=True, slots=True)
class Served:
    """The models that a server lists, or why there are none, after "it …"."""

    models: tuple[str, ...] = ()
    instead: str = ""


async def served_models(base_url: str, transport: httpx.AsyncBaseTransport | None = None) -> Served:
    """What a server on this machine lists under ``base_url``; it has half a second. Names that cannot be shown are
    left out."""
    try:
        probing = httpx.AsyncClient(
            timeout=_PROBE_TIMEOUT, trust_env=False, transport=transport, verify=_certificates()
        )
        async with probing as client:
            response = await client.get(f"{base_url.rstrip('/')}/models")
            listed = an_object(loads(response.content)) if response.status_code == 200 else {}
    except _FOREIGN_ERRORS:
        return Served(instead="does not answer")
    except ValueError:
        listed = {}
    if response.status_code != 200:
        return Served(instead=f"answers with status {response.status_code}")
    if not isinstance(listed.get("data", ""), list | None):
        return Served(instead="answers, but not with a list of models")
    models = (an_object(entry) for entry in a_list(listed["data"]))
    names = tuple(name for model in models if (name := a_text(model.get("id"))) and name.isprintable())
    return Served(names, "" if names else "answers, and has no model")
