from __future__ import annotations

import httpx
import pytest

from perdure.activities.builtin.addresses import GuardedTransport, refused, resolve
from perdure.contracts.errors import ToolError

PUBLIC = ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1"]
PRIVATE = [
    "127.0.0.1",
    "127.9.9.9",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fc00::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
]
METADATA = [
    "169.254.169.254",
    "169.254.170.2",
    "fe80::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "100.100.100.200",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_internet_may_be_reached(address: str) -> None:
    assert refused(address, private=False) == ""


@pytest.mark.parametrize("address", PRIVATE)
def test_this_machine_and_its_network_may_be_reached_only_where_allowed(address: str) -> None:
    assert refused(address, private=False) == f"{address} is not on the public internet"
    assert refused(address, private=True) == ""


@pytest.mark.parametrize("address", METADATA)
def test_metadata_and_link_local_addresses_may_never_be_reached(address: str) -> None:
    for private in (False, True):
        assert refused(address, private=private) == f"{address} is a link-local or metadata address"


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f.1"])
async def test_every_spelling_of_this_machine_is_resolved_before_it_is_judged(host: str) -> None:
    assert all(refused(address, private=False) for address in await resolve(host, 80))


class Recorder(httpx.AsyncBaseTransport):
    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200)


def guarded(*answers: str) -> tuple[GuardedTransport, Recorder]:
    recorder = Recorder()

    async def resolver(host: str, port: int) -> tuple[str, ...]:
        return answers

    return GuardedTransport(recorder, resolver=resolver), recorder


@pytest.mark.parametrize(
    ("url", "address", "reached"),
    [
        ("https://example.org/a?b=c", "93.184.216.34", "https://93.184.216.34/a?b=c"),
        ("http://example.org:8080/", "2606:2800:220:1::1", "http://[2606:2800:220:1::1]:8080/"),
    ],
)
async def test_the_connection_goes_to_the_address_that_was_checked_and_tls_verifies_the_name(
    url: str, address: str, reached: str
) -> None:
    transport, recorder = guarded(address)

    await transport.handle_async_request(httpx.Request("GET", url))

    (request,) = recorder.requests
    assert str(request.url) == reached
    assert request.headers["host"] == httpx.URL(url).netloc.decode()
    assert request.extensions["sni_hostname"] == "example.org"


async def test_one_bad_address_among_good_ones_is_enough_to_refuse() -> None:
    transport, recorder = guarded("93.184.216.34", "127.0.0.1")

    with pytest.raises(
        ToolError, match=r"example\.org must not be fetched: 127\.0\.0\.1 is not on the public internet"
    ):
        await transport.handle_async_request(httpx.Request("GET", "http://example.org"))
    assert recorder.requests == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.org/", "Only http and https"),
        ("http://ada:hunter2@example.org/", "carries a user or a password"),
    ],
)
async def test_a_hop_of_another_kind_is_refused(url: str, said: str) -> None:
    transport, recorder = guarded("93.184.216.34")

    with pytest.raises(ToolError, match=said) as raised:
        await transport.handle_async_request(httpx.Request("GET", url))
    assert "hunter2" not in str(raised.value)
    assert recorder.requests == []


async def test_a_host_without_an_address_is_named() -> None:
    transport, _ = guarded()

    with pytest.raises(ToolError, match="it has no address"):
        await transport.handle_async_request(httpx.Request("GET", "http://example.org"))


async def test_a_host_that_does_not_exist_is_named() -> None:
    with pytest.raises(ToolError, match=r"There is no host 'nothing\.invalid'"):
        await GuardedTransport(Recorder()).handle_async_request(httpx.Request("GET", "http://nothing.invalid"))
