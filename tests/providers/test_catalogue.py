from __future__ import annotations

import pytest
from pydantic import ValidationError

from perdure.providers.catalogue import CATALOGUE, LOCAL_PROVIDERS, Endpoint, ProviderSettings, lay_over
from perdure.providers.dialects import DIALECTS
from perdure.providers.prices import FREE_PROVIDERS


def test_single_flags_change_a_dialect() -> None:
    endpoint = Endpoint(base_url="http://x/v1", dialect="deepseek", flags={"system_role": "developer"})
    assert endpoint.spoken() == DIALECTS["deepseek"].model_copy(update={"system_role": "developer"})


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"base_url": "models.example/v1"}, "base_url"),
        ({"base_url": "ftp://models.example"}, "base_url"),
        ({"base_url": "http://"}, "base_url"),
        ({"base_url": "https://u:secret@models.example"}, "neither a user nor a query"),
        ({"base_url": "https://models.example?key=secret"}, "neither a user nor a query"),
        ({"base_url": "http://models.example:99999/v1"}, "a port from 1 to 65535"),
        ({"base_url": "http://x", "key_variable": "sk-secret-inline"}, "no name of an environment variable"),
        ({"base_url": "http://x", "key_header": "x secret"}, "no name of an HTTP header"),
        ({"base_url": "http://x", "flags": {"thinking": "adaptve"}}, "flags.thinking: expected adaptive or a whole"),
        ({"base_url": "http://x", "dialect": "klingon"}, "klingon"),
        ({"base_url": "http://x", "flags": {"stream_usagee": True}}, "stream_usagee"),
        ({"base_url": "http://x", "flags": {"call_ids": "long"}}, "call_ids"),
        ({"base_url": "http://x", "key": "sk-1"}, "key"),
    ],
)
def test_a_typing_error_in_the_settings_hurts_and_is_named(fields: dict[str, object], named: str) -> None:
    with pytest.raises(ValidationError, match=named) as caught:
        Endpoint.model_validate(fields)
    assert "secret" not in str(caught.value)


def test_local_providers_need_no_key_and_are_free() -> None:
    for name in LOCAL_PROVIDERS:
        assert CATALOGUE[name].key_variable == ""
        assert name in FREE_PROVIDERS


def test_every_other_provider_needs_a_key_and_has_a_default_model() -> None:
    for name, endpoint in CATALOGUE.items():
        assert name in LOCAL_PROVIDERS or (endpoint.key_variable and endpoint.default_model)


def test_the_settings_own_endpoints_come_first() -> None:
    settings = ProviderSettings(endpoints={"mine": Endpoint(base_url="http://x")})
    assert settings.names()[0] == "mine"
    assert set(settings.names()) == {"mine", *CATALOGUE}
    assert settings.endpoint("nobody") is None


def laid(name: str, **fields: object) -> tuple[Endpoint, str]:
    """The endpoint that a table of these fields makes of a provider, and the variable that is withheld from it."""
    settings = ProviderSettings.model_validate({"endpoints": lay_over({name: fields})})
    return settings.endpoints[name], settings.withheld(name)


@pytest.mark.parametrize("name", CATALOGUE)
def test_what_a_table_does_not_name_stays_as_built_in(name: str) -> None:
    known = CATALOGUE[name]
    assert laid(name) == (known, "")
    assert laid(name, protocol="openai-responses") == (known.model_copy(update={"protocol": "openai-responses"}), "")
    assert laid(name, key_variable="MINE") == (known.model_copy(update={"key_variable": "MINE"}), "")
    assert laid(name, base_url=f"{known.base_url}/more") == (
        known.model_copy(update={"base_url": f"{known.base_url}/more"}),
        "",
    )


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_key_of_a_vendor_goes_to_another_address_only_where_its_variable_is_named(name: str) -> None:
    known, url = CATALOGUE[name], "http://127.0.0.1:7711/v1"
    moved = known.model_copy(update={"base_url": url, "key_variable": ""})
    assert laid(name, base_url=url) == (moved, known.key_variable)
    assert laid(name, base_url=url, key_variable="") == (moved, "")
    assert laid(name, base_url=url, key_variable="MINE")[0].key_variable == "MINE"


def test_a_provider_that_nobody_knows_is_what_its_table_says() -> None:
    assert laid("corp", base_url="http://x") == (Endpoint(base_url="http://x"), "")
