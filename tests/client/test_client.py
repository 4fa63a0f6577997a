from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.client.client import Client
from perdure.contracts.errors import ServerUnavailableError


async def test_a_server_that_takes_connections_and_says_nothing_is_given_up(foreign_port: int) -> None:
    with pytest.raises(ServerUnavailableError, match=rf"127.0.0.1:{foreign_port} \(no answer within 0.05 s\)"):
        await Client.connect(f"127.0.0.1:{foreign_port}", within=timedelta(milliseconds=50))


async def test_an_address_where_nothing_listens_is_named() -> None:
    with pytest.raises(ServerUnavailableError, match=r"127\.0\.0\.1:1"):
        await Client.connect("127.0.0.1:1")
