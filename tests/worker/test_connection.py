"""Connecting: the TLS that the settings ask for, and refusals as a person reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from temporalio.service import TLSConfig

from perdure.contracts.errors import InvalidSettingsError, OperatorError, ServerUnavailableError
from perdure.worker.connection import answers, connect, refused, tls_of, unconnected
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


def test_a_tls_file_that_cannot_be_read_is_named(pem: Path) -> None:
    settings = Settings(tls_cert=pem)
    pem.unlink()
    with pytest.raises(InvalidSettingsError, match=r"client\.pem cannot be read: No such file .*PERDURE_TLS_CERT"):
        tls_of(settings)


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
        ("NOT_FOUND", "namespace create --namespace ours --address there:1"),
        ("PERMISSION_DENIED", "PERDURE_API_KEY"),
        ("UNAUTHENTICATED", "PERDURE_API_KEY"),
        ("UNAVAILABLE", r"No Temporal server answers at there:1 \(overloaded\)"),
    ],
)
def test_a_refusal_says_what_to_do(status: str, said: str) -> None:
    with pytest.raises(OperatorError, match=said):
        raise refused(status, "overloaded", "there:1", "ours")


CALL = "Failed client connect: `get_system_info` call error after connection: Status { "
BROKEN = "source: Some(tonic::transport::Error(Transport, hyper::Error(Io, Kind(ConnectionReset)))) }"


# The SDK's own words, as seen with version 1.35.
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Failed client connect: Server connection error: tonic::transport::Error(… Connection refused …)", "refused"),
        ("Failed client connect: Server connection error: tonic::transport::Error(… dns error …)", "no such host"),
        ("invalid target URL: invalid international domain name", "invalid target URL"),
        (CALL + 'code: Unknown, message: "transport error", ' + BROKEN, "PERDURE_TLS=true"),
        (CALL + 'code: Unimplemented, message: "grpc-status header missing, mapped from 404" }', "PERDURE_TLS=true"),
        (CALL + 'code: PermissionDenied, message: "Request unauthorized.", source: None }', "PERDURE_API_KEY"),
        (CALL + 'code: Internal, message: "out of \\"luck\\"", source: None }', "out of"),
    ],
)
def test_what_the_sdk_says_of_a_failed_connect_becomes_one_line(text: str, said: str) -> None:
    error = unconnected(text, "there:1", "ours")
    assert said in str(error)
    assert "tonic" not in str(error)
