from __future__ import annotations

from pathlib import Path

import pytest

from perdure.contracts.errors import KeyMissingError, UnknownModelError, UnsupportedCapabilityError
from perdure.contracts.tools import HostedTool
from perdure.providers.anthropic import AnthropicProvider
from perdure.providers.catalogue import CATALOGUE, Endpoint, ProviderSettings
from perdure.providers.demo import DemoProvider
from perdure.providers.gemini import GeminiProvider
from perdure.providers.openai_chat import ChatProvider
from perdure.providers.openai_responses import ResponsesProvider
from perdure.providers.registry import ProviderRegistry
from perdure.providers.scripted import Reply, Script, ScriptedProvider

SPOKEN = {
    "openai-chat": ChatProvider,
    "openai-responses": ResponsesProvider,
    "anthropic": AnthropicProvider,
    "gemini": GeminiProvider,
}


@pytest.mark.parametrize("name", CATALOGUE)
async def test_every_known_provider_opens_with_its_key(name: str) -> None:
    registry = ProviderRegistry(ProviderSettings(), {CATALOGUE[name].key_variable: "sk-1"})
    provider = registry.open(f"{name}:some/model:8b")
    assert isinstance(provider, SPOKEN[CATALOGUE[name].protocol])
    assert registry.open(f"{name}:other") is provider
    await registry.close()


def test_a_missing_key_is_named_by_its_variable() -> None:
    for environ in ({}, {"OPENAI_API_KEY": "  "}):
        with pytest.raises(KeyMissingError, match="set OPENAI_API_KEY"):
            ProviderRegistry(ProviderSettings(), environ).open("openai:gpt-5-mini")


async def test_a_server_of_ones_own_is_settings_and_not_code() -> None:
    endpoint = Endpoint(base_url="https://models.example/v1", key_variable="MY_KEY", dialect="vllm")
    registry = ProviderRegistry(ProviderSettings(endpoints={"mine": endpoint}), {"MY_KEY": "sk-1"})
    provider = registry.open("mine:qwen3")
    assert isinstance(provider, ChatProvider)
    assert (provider.name, provider.origin) == ("mine", "openai-chat:models.example")
    await registry.close()


async def test_any_endpoint_may_speak_the_responses_protocol() -> None:
    endpoint = CATALOGUE["openai"].model_copy(update={"protocol": "openai-responses"})
    registry = ProviderRegistry(ProviderSettings(endpoints={"openai": endpoint}), {"OPENAI_API_KEY": "sk-1"})
    provider = registry.open("openai:gpt-5-mini")
    assert isinstance(provider, ResponsesProvider)
    assert (provider.name, provider.origin) == ("openai", "openai-responses:api.openai.com")
    await registry.close()


async def test_settings_may_move_a_known_provider() -> None:
    moved = ProviderSettings(endpoints={"ollama": Endpoint(base_url="http://gpu.example:11434/v1", dialect="ollama")})
    registry = ProviderRegistry(moved, {})
    provider = registry.open("ollama:llama3.2")
    assert isinstance(provider, ChatProvider)
    assert provider.origin == "openai-chat:gpu.example"
    await registry.close()


@pytest.mark.parametrize("model", ["nobody:x", "openai", "openai:", "", ":x"])
def test_an_unknown_model_is_refused_with_what_is_known_or_how_names_look(model: str) -> None:
    with pytest.raises(UnknownModelError, match=r"openai"):
        ProviderRegistry(ProviderSettings(), {}).open(model)


def test_the_demo_needs_nothing() -> None:
    assert isinstance(ProviderRegistry(ProviderSettings(), {}).open("demo:demo"), DemoProvider)


def test_a_script_is_opened_by_its_path_and_kept(tmp_path: Path) -> None:
    Script(replies=(Reply(text=("a",)),)).save(tmp_path / "a:b.json")
    registry = ProviderRegistry(ProviderSettings(), {})
    provider = registry.open(f"scripted:{tmp_path}/a:b.json")
    assert isinstance(provider, ScriptedProvider)
    assert registry.open(f"scripted:{tmp_path}/a:b.json") is provider


def test_a_missing_script_is_an_unknown_model(tmp_path: Path) -> None:
    with pytest.raises(UnknownModelError, match=r"missing\.json"):
        ProviderRegistry(ProviderSettings(), {}).open(f"scripted:{tmp_path}/missing.json")


def test_whether_a_model_has_tools_of_its_provider_is_known_without_a_key() -> None:
    registry = ProviderRegistry(ProviderSettings(), {})
    search = (HostedTool(tool="web_search"),)
    registry.check_hosted("anthropic:claude-sonnet-4-5", search)
    registry.check_hosted("demo:demo", search)
    with pytest.raises(UnsupportedCapabilityError, match="web_search"):
        registry.check_hosted("deepseek:deepseek-chat", search)
    with pytest.raises(UnknownModelError, match="nobody"):
        registry.check_hosted("nobody:x", search)
