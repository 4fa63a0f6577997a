"""Which machines a web request may reach: the public internet, and this network only where that is allowed.

The trap: a name that was checked can lead elsewhere when it is looked up again, and a redirect can lead anywhere. So
every hop is checked here, below the redirects, and the connection goes to the very address that was checked; TLS still
verifies the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from perdure.contracts.errors import ToolError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Awaitable[tuple[str, ...]]]

METADATA = tuple(
    ipaddress.ip_network(network)
    for network in ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "100.100.100.200/32", "192.0.0.192/32")
)
"""Where clouds serve a machine's own credentials, and link-local networks: never reached, whatever is allowed."""

NAT64 = ipaddress.ip_network("64:ff9b::/96")


async def resolve(host: str, port: int) -> tuple[str, ...]:
    """The addresses of ``host``, as the system's resolver gives them. Raises OSError when there are none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


def refused(address: str, *, private: bool) -> str:
    """Why this IP address must not be reached; empty when it may be. ``private`` allows this network and machine."""
    real = _inner(ipaddress.ip_address(address.partition("%")[0]))
    if any(real.version == network.version and real in network for network in METADATA):
        return f"{address} is a link-local or metadata address"
    if not private and (not real.is_global or real.is_multicast):
        return f"{address} is not on the public internet"
    return ""


def _inner(address: Address) -> Address:
    # An IPv6 address can carry an IPv4 one that the packet reaches in the end.
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)


@dataclass(slots=True)
class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport that reaches only what `refused` lets pass. Raises `ToolError` for everything else."""

    inner: httpx.AsyncBaseTransport
    private: bool = False
    resolver: Resolver = resolve

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Check one hop and send it to the address that was checked (httpx calls it)."""
        url = request.url
        if url.scheme not in ("http", "https"):
            raise ToolError(f"Only http and https can be fetched, not {url.scheme!r}.")
        if url.userinfo:
            raise ToolError(f"The URL for {url.host} carries a user or a password: leave them out.")
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = await self.resolver(url.host, port)
        except (OSError, UnicodeError):
            raise ToolError(f"There is no host {url.host!r}.") from None
        reasons = [refused(address, private=self.private) for address in addresses]
        if not addresses or any(reasons):
            raise ToolError(f"{url.host} must not be fetched: {next(filter(None, reasons), 'it has no address')}.")
        # The Host header keeps the name, and so does the TLS handshake.
        return await self.inner.handle_async_request(
            httpx.Request(
                request.method,
                url.copy_with(host=addresses[0]),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": url.host},
            )
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self.inner.aclose()
