"""Connecting to Temporal: bounded in time, and every failure is an error that says what to do.

The trap: a program that accepts connections and says nothing (not Temporal) holds the SDK's own connect for 30 s.
"""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, TLSConfig

from perdure.contracts.errors import InvalidSettingsError, OperatorError, ServerUnavailableError
from perdure.worker.converter import data_converter
from perdure.worker.settings import Settings

LONGEST = 200
"""Characters of a server's own words that an error repeats."""
STATUS = re.compile(r'Status \{ code: (?P<code>\w+), message: "(?P<message>(?:[^"\\]|\\.)*)"')


def tls_of(settings: Settings) -> TLSConfig | bool:
    """What the settings say of TLS: unset means on as soon as there is a key or a certificate.

    Raises InvalidSettingsError for a file that cannot be read.
    """
    files = (settings.tls_ca, settings.tls_cert, settings.tls_key)
    if settings.tls is False or (settings.tls is None and settings.api_key is None and not any(files)):
        return False
    try:
        authority, certificate, key = (path.read_bytes() if path else None for path in files)
    except OSError as error:
        why = f"The TLS file {error.filename} cannot be read: {error.strerror}."
        raise InvalidSettingsError(f"{why} See PERDURE_TLS_CA, PERDURE_TLS_CERT and PERDURE_TLS_KEY.") from error
    return TLSConfig(server_root_ca_cert=authority, client_cert=certificate, client_private_key=key)


async def connect(settings: Settings, address: str) -> Client:
    """A client of the server at ``address`` with our data converter; the namespace was seen to exist.

    Raises ServerUnavailableError when nothing answers within ``connect_timeout``, OperatorError when the server answers
    and refuses (namespace, permission), InvalidSettingsError for a TLS file that cannot be read.
    """
    timeout = settings.connect_timeout
    try:
        async with asyncio.timeout(timeout.total_seconds()):
            client = await Client.connect(
                address,
                namespace=settings.namespace,
                api_key=settings.api_key.get_secret_value() if settings.api_key else None,
                tls=tls_of(settings),
                data_converter=data_converter(),
                connect_timeout=timeout,
            )
            await client.workflow_service.describe_namespace(
                DescribeNamespaceRequest(namespace=settings.namespace), timeout=timeout
            )
    except TimeoutError:
        raise ServerUnavailableError(address, f"no answer within {timeout.total_seconds():g} s") from None
    except RPCError as error:
        raise refused(error.status.name, error.message, address, settings.namespace) from error
    except (RuntimeError, ValueError) as error:
        raise unconnected(str(error), address, settings.namespace) from error
    return client


def refused(status: str, message: str, address: str, namespace: str) -> OperatorError:
    """What a server's refusal means for the person who runs the system. ``status`` is the gRPC status by name."""
    match status.replace("_", "").lower():
        case "notfound":
            return OperatorError(
                f"The Temporal server at {address} has no namespace {namespace!r}. Set PERDURE_NAMESPACE, or create it "
                f"with `temporal operator namespace create --namespace {namespace} --address {address}`."
            )
        case "permissiondenied" | "unauthenticated":
            return OperatorError(
                f"The Temporal server at {address} does not let us into the namespace {namespace!r}: "
                "check PERDURE_API_KEY (or PERDURE_TLS_CERT and PERDURE_TLS_KEY) and PERDURE_NAMESPACE."
            )
        case _:
            return ServerUnavailableError(address, message[:LONGEST])


def unconnected(text: str, address: str, namespace: str) -> OperatorError:
    """What the SDK's message about a failed connect means. It tells the kinds of failure apart by text alone."""
    status = STATUS.search(text)
    if "Connection refused" in text:
        return ServerUnavailableError(address, "connection refused")
    if "dns error" in text:
        return ServerUnavailableError(address, "no such host")
    if status is None:
        plain = text.removeprefix("Failed client connect: ").partition(": tonic::")[0]
        return ServerUnavailableError(address, plain[:LONGEST])
    if "tonic::transport::Error" in text or "grpc-status header missing" in text:
        foreign = "what listens there does not answer as Temporal does; if it wants TLS, set PERDURE_TLS=true"
        return ServerUnavailableError(address, foreign)
    return refused(status["code"], status["message"], address, namespace)


async def answers(address: str, patience: timedelta = timedelta(seconds=2)) -> bool:
    """Whether a Temporal server answers at ``address`` without TLS, within ``patience``."""
    try:
        async with asyncio.timeout(patience.total_seconds()):
            await Client.connect(address, connect_timeout=patience)
    except (TimeoutError, RPCError, RuntimeError, ValueError):
        return False
    return True
