"""What a namespace needs before runs use it: search attributes, and how long closed runs are kept.

Both can be asked for at every start: what is there already is left alone.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from perdure.contracts.errors import OperatorError
from perdure.contracts.names import SEARCH_ATTRIBUTES

RPC_TIMEOUT = timedelta(seconds=10)
PROPAGATION = timedelta(seconds=30)
"""How long a server may take to use attributes that it has just been given: it caches a namespace's configuration."""
KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD


async def ensure_search_attributes(client: Client, namespace: str) -> tuple[str, ...]:
    """Create the search attributes that the namespace lacks; return their names once the server can use them.

    A run that sets an attribute its server does not know hangs for ever. Raises OperatorError with the command to run
    when the server does not let us look or create, or when one of the names has another type.
    """
    try:
        known = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=namespace), timeout=RPC_TIMEOUT
        )
        found = {**known.system_attributes, **known.custom_attributes}
        for name in SEARCH_ATTRIBUTES:
            if found.get(name, KEYWORD) != KEYWORD:
                raise OperatorError(
                    f"The search attribute {name} of the namespace {namespace!r} has another type than Keyword. Remove "
                    f"it with `temporal operator search-attribute remove --namespace {namespace} --name {name}`."
                )
        missing = tuple(name for name in SEARCH_ATTRIBUTES if name not in found)
        if missing:
            await client.operator_service.add_search_attributes(
                AddSearchAttributesRequest(namespace=namespace, search_attributes=dict.fromkeys(missing, KEYWORD)),
                timeout=RPC_TIMEOUT,
            )
            await usable(client, missing)
    except RPCError as error:
        raise OperatorError(
            f"The search attributes of the namespace {namespace!r} cannot be set up ({reason(error)}). "
            f"Have someone who may do so run: {command(namespace)}"
        ) from error
    return missing


async def usable(client: Client, names: tuple[str, ...]) -> None:
    """Wait until the server takes the attributes in a query. Raises RPCError when it does not in time."""
    query = " AND ".join(f"{name} = 'none'" for name in names)
    try:
        async with asyncio.timeout(PROPAGATION.total_seconds()):
            while True:
                try:
                    await client.count_workflows(query, rpc_timeout=RPC_TIMEOUT)
                    return
                except RPCError as error:
                    if error.status is not RPCStatusCode.INVALID_ARGUMENT:
                        raise
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise OperatorError(
            f"The server does not use the search attributes {', '.join(names)} yet, {PROPAGATION.total_seconds():g} s "
            "after they were created. Start again in a minute."
        ) from None


async def ensure_retention(client: Client, namespace: str, retention: timedelta) -> bool:
    """Have the namespace keep closed runs for ``retention``; return whether that was a change.

    Raises OperatorError with the command to run when the server does not let us.
    """
    try:
        described = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=namespace), timeout=RPC_TIMEOUT
        )
        if described.config.workflow_execution_retention_ttl.ToTimedelta() == retention:
            return False
        wanted = Duration()
        wanted.FromTimedelta(retention)
        await client.workflow_service.update_namespace(
            UpdateNamespaceRequest(
                namespace=namespace, config=NamespaceConfig(workflow_execution_retention_ttl=wanted)
            ),
            timeout=RPC_TIMEOUT,
        )
    except RPCError as error:
        seconds = int(retention.total_seconds())
        raise OperatorError(
            f"The retention of the namespace {namespace!r} cannot be set ({reason(error)}). Have someone who may do so "
            f"run: temporal operator namespace update --namespace {namespace} --retention {seconds}s"
        ) from error
    return True


def reason(error: RPCError) -> str:
    """Why the server refused, in a few words."""
    if error.status in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED):
        return "no permission"
    if error.status is RPCStatusCode.UNIMPLEMENTED:
        return "this server has no such operation"
    return error.message[:200]


def command(namespace: str) -> str:
    """The command line that creates all of our search attributes."""
    names = " ".join(f"--name {name} --type Keyword" for name in SEARCH_ATTRIBUTES)
    return f"temporal operator search-attribute create --namespace {namespace} {names}"
