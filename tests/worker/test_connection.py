"""Connecting: the TLS that the settings ask for, and refusals as a person reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from perdure.contracts.errors import OperatorError, ServerUnavailableError
from perdure.worker.connection import answers, connect, refused, tls_of
from perdure.worker.settings import Settings
from tests.servers import free_port


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    file = tmp_path / "client.pem"
    file.write_bytes(b"-----BEGIN CERTIFICATE-----")
    return file


def test_tls_is_off_until_a_key_or_a_certificate_is_given(pem: Path) -> None:
    assert tls_of(Settings()) is False
    assert isinstance(tls_of(Settings(api_key=SecretStr("canary-key"))), TLSConfig)
    given = tls_of(Settings(tls_cert=pem, tls_key=pem))
    assert isinstance(given, TLSConfig)
    assert (given.client_cert, given.client_private_key) == (pem.read_bytes(), pem.read_bytes())


def test_tls_can_be_said_outright(pem: Path) -> None:
    assert isinstance(tls_of(Settings(tls=True)), TLSConfig)
    assert tls_of(Settings(tls=False, api_key=SecretStr("canary-key"))) is False


async def test_a_server_without_tls_is_not_taken_for_one_with(dev_server: str) -> None:
    with pytest.raises(ServerUnavailableError) as caught:
        await connect(Settings(tls=True, api_key=SecretStr("canary-key")), dev_server)
    assert "canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_whether_a_server_answers_is_told_without_an_error(dev_server: str) -> None:
    assert await answers(dev_server)
    assert not await answers(f"127.0.0.1:{free_port()}")
    assert not await answers("no address")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (RPCStatusCode.NOT_FOUND, "namespace create --namespace ours --address there:1"),
        (RPCStatusCode.PERMISSION_DENIED, "PERDURE_API_KEY"),
        (RPCStatusCode.UNAUTHENTICATED, "PERDURE_API_KEY"),
        (RPCStatusCode.UNAVAILABLE, r"No Temporal server answers at there:1 \(overloaded\)"),
    ],
)
def test_a_refusal_says_what_to_do(status: RPCStatusCode, said: str) -> None:
    error = refused(RPCError("overloaded", status, b""), "there:1", "ours")
    with pytest.raises(OperatorError, match=said):
        raise error
