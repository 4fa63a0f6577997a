"""What a namespace is given before runs use it, and what is said when that is not allowed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from perdure.contracts.errors import OperatorError
from perdure.contracts.names import AGENT_RUN, SEARCH_ATTRIBUTES
from perdure.worker.setup import command, ensure_retention, ensure_search_attributes, reason
from tests.servers import unique


async def bare_namespace(client: Client, **types: IndexedValueType.ValueType) -> Client:
    """A client of a new namespace that knows no search attributes but those given."""
    name = unique("namespace")
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=name, workflow_execution_retention_period=Duration(seconds=86_400))
    )
    inside = await Client.connect(client.service_client.config.target_host, namespace=name)
    if types:
        request = AddSearchAttributesRequest(namespace=name, search_attributes=types)
        await client.operator_service.add_search_attributes(request)
    return inside


async def retention_of(client: Client) -> timedelta:
    described = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    return described.config.workflow_execution_retention_ttl.ToTimedelta()


async def test_missing_attributes_are_created_and_usable_at_once(temporal_client: Client) -> None:
    client = await bare_namespace(temporal_client)
    assert await ensure_search_attributes(client, client.namespace) == SEARCH_ATTRIBUTES
    pairs = [SearchAttributePair(SearchAttributeKey.for_keyword(name), "x") for name in SEARCH_ATTRIBUTES]
    handle = await client.start_workflow(
        AGENT_RUN, id=unique("run"), task_queue="nobody", search_attributes=TypedSearchAttributes(pairs)
    )
    assert set((await handle.describe()).search_attributes) >= set(SEARCH_ATTRIBUTES)


async def test_attributes_that_are_there_are_left_alone(temporal_client: Client) -> None:
    assert await ensure_search_attributes(temporal_client, "default") == ()


async def test_several_workers_may_create_them_at_once(temporal_client: Client) -> None:
    client = await bare_namespace(temporal_client)
    await asyncio.gather(*(ensure_search_attributes(client, client.namespace) for _ in range(4)))
    assert await ensure_search_attributes(client, client.namespace) == ()


async def test_an_attribute_of_another_type_is_an_error_with_the_command_to_run(temporal_client: Client) -> None:
    name = SEARCH_ATTRIBUTES[0]
    client = await bare_namespace(temporal_client, **{name: IndexedValueType.INDEXED_VALUE_TYPE_INT})
    with pytest.raises(OperatorError, match=rf"another type than Keyword.*search-attribute remove .*--name {name}"):
        await ensure_search_attributes(client, client.namespace)


async def test_what_the_server_refuses_is_an_error_with_the_command_to_run(temporal_client: Client) -> None:
    with pytest.raises(OperatorError) as caught:
        await ensure_search_attributes(temporal_client, "nowhere")
    assert str(caught.value).endswith(command("nowhere"))
    with pytest.raises(OperatorError, match="namespace update --namespace nowhere --retention 3600s"):
        await ensure_retention(temporal_client, "nowhere", timedelta(hours=1))


async def test_retention_is_changed_once(temporal_client: Client) -> None:
    client = await bare_namespace(temporal_client)
    assert await ensure_retention(client, client.namespace, timedelta(days=30))
    assert await retention_of(client) == timedelta(days=30)
    assert not await ensure_retention(client, client.namespace, timedelta(days=30))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (RPCStatusCode.PERMISSION_DENIED, "no permission"),
        (RPCStatusCode.UNAUTHENTICATED, "no permission"),
        (RPCStatusCode.UNIMPLEMENTED, "this server has no such operation"),
        (RPCStatusCode.UNAVAILABLE, "gone"),
    ],
)
def test_a_refusal_is_said_in_a_few_words(status: RPCStatusCode, said: str) -> None:
    assert reason(RPCError("gone", status, b"")) == said
