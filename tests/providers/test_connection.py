from __future__ import annotations

import httpx
import pytest

from perdure.providers.catalogue import Endpoint
from perdure.providers.connection import connect


@pytest.mark.parametrize(
    ("header", "key", "sent"),
    [
        ("authorization", "sk-1", {"authorization": "Bearer sk-1", "x-version": "1"}),
        ("Authorization", "sk-1", {"authorization": "Bearer sk-1", "x-version": "1"}),
        ("x-api-key", "sk-1", {"x-api-key": "sk-1", "x-version": "1"}),
        ("authorization", "", {"x-version": "1"}),
    ],
)
async def test_the_key_goes_into_the_endpoints_header_beside_the_protocols_own(
    header: str, key: str, sent: dict[str, str]
) -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={})

    http = connect(
        "mine",
        Endpoint(base_url="https://models.example/v1/", key_header=header),
        key=key,
        transport=httpx.MockTransport(handle),
        headers={"x-version": "1"},
    )
    async with http.post("/ask", {}):
        pass
    await http.close()
    assert str(seen[0].url) == "https://models.example/v1/ask"
    named = {
        name: seen[0].headers[name] for name in ("authorization", "x-api-key", "x-version") if name in seen[0].headers
    }
    assert named == sent
