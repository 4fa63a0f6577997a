from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from perdure.contracts.errors import AuthenticationError
from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.service import Service


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

    endpoint = Endpoint(base_url="https://models.example/v1/", key_header=header)
    http = Service("mine", endpoint, key, transport=httpx.MockTransport(handle)).connect({"x-version": "1"})
    async with http.post("/ask", {}):
        pass
    await http.close()
    assert str(seen[0].url) == "https://models.example/v1/ask"
    named = {
        name: seen[0].headers[name] for name in ("authorization", "x-api-key", "x-version") if name in seen[0].headers
    }
    assert named == sent


def test_a_service_that_is_shown_does_not_show_its_keys() -> None:
    shown = repr(Service("mine", Endpoint(base_url="http://x"), "sk-1", environ={"WIKI_KEY": "wk-1"}))
    assert "sk-1" not in shown
    assert "wk-1" not in shown


def test_opaque_data_is_marked_with_protocol_and_host() -> None:
    endpoint = Endpoint(base_url="https://models.example:8443/v1", protocol="anthropic")
    assert Service("mine", endpoint).origin == "anthropic:models.example"


MOVED = ProviderSettings(endpoints={"openai": Endpoint(base_url="http://x")})


@pytest.mark.parametrize(
    ("service", "said"),
    [
        (Service("mine", Endpoint(base_url="http://x", key_variable="MY_KEY"), "sk-1"), "The key is that of MY_KEY."),
        (
            Service("openai", Endpoint(base_url="http://x"), settings=MOVED),
            "OPENAI_API_KEY is not sent to this address; name it as key_variable.",
        ),
        (Service("mine", Endpoint(base_url="http://x")), "No key was sent: name its variable as key_variable"),
    ],
)
async def test_a_refused_key_is_told_with_the_variable_that_it_came_from(service: Service, said: str) -> None:
    refusing = httpx.MockTransport(lambda _: httpx.Response(401, json={"error": {"message": "Bad key."}}))
    http = replace(service, transport=refusing).connect()
    with pytest.raises(AuthenticationError) as caught:
        async with http.post("/ask", {}):
            pass
    await http.close()
    assert str(caught.value).startswith(f"{service.name}: Bad key. {said}")
    assert "sk-1" not in str(caught.value)
