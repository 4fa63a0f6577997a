from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from perdure.contracts.errors import UnsupportedCapabilityError
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.makers import Makers
from tests.providers.making import Server, making

Asking = Callable[[Makers, str], Any]

KINDS: dict[str, Asking] = {
    "embeddings": lambda makers, model: makers.embedder(model),
    "making images": lambda makers, model: makers.image_maker(model),
    "making speech": lambda makers, model: makers.speaker(model),
    "transcription": lambda makers, model: makers.transcriber(model),
    "making videos": lambda makers, model: makers.video_maker(model),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_provider_that_makes_none_says_who_does(kind: str) -> None:
    async with making(Server({}), provider="anthropic") as makers:
        with pytest.raises(UnsupportedCapabilityError) as caught:
            KINDS[kind](makers, "anthropic:claude-sonnet-4-5")
    said = str(caught.value)
    assert said.startswith(f"The model anthropic:claude-sonnet-4-5 lacks {kind}.")
    if kind == "making videos":
        assert "There is no adapter for it yet. No model that is known here has it." in said
    else:
        assert "These have it: openai*:" in said


async def test_those_of_configured_providers_are_named_and_only_where_there_is_an_adapter() -> None:
    async with making(Server({}), provider="anthropic", environ={"GEMINI_API_KEY": "x"}) as makers:
        with pytest.raises(UnsupportedCapabilityError, match=r"These have it: gemini:\*embedding\*\.$"):
            makers.embedder("anthropic:claude-sonnet-4-5")
        with pytest.raises(UnsupportedCapabilityError) as caught:
            makers.speaker("anthropic:claude-sonnet-4-5")
        assert "gemini" not in str(caught.value)


async def test_a_model_that_lacks_it_is_refused_and_one_that_nobody_knows_is_tried() -> None:
    async with making(Server({})) as makers:
        with pytest.raises(UnsupportedCapabilityError, match="openai:tts-1 lacks embeddings"):
            makers.embedder("openai:tts-1")
        with pytest.raises(UnsupportedCapabilityError, match="openai:gpt-5 lacks embeddings"):
            makers.embedder("openai:gpt-5")
        makers.embedder("openai:own-embedding")


async def test_settings_say_otherwise() -> None:
    settings = ProviderSettings(capabilities={"openai:tts-1": "embeddings"})
    async with making(Server({}), settings=settings) as makers:
        makers.embedder("openai:tts-1")
