from __future__ import annotations

import re
from pathlib import Path

import pytest

from perdure.providers.capabilities import (
    CAPABILITIES,
    MADE,
    SAID,
    Capabilities,
    capabilities_of,
    patterns_with,
    read_capabilities,
)
from perdure.providers.capability_table import TABLE
from perdure.providers.catalogue import CATALOGUE

MANUAL = Path(__file__).parents[2] / "docs" / "models.md"


@pytest.mark.parametrize(
    ("model", "has", "lacks"),
    [
        (
            "openai:gpt-5-mini",
            "tools images files schema schema_with_tools reasoning",
            "audio temperature web_search mcp",
        ),
        ("openai-responses:gpt-5-mini", "tools web_search code_execution mcp hosted_with_tools", "temperature"),
        ("openai:gpt-3.5-turbo", "tools temperature", "images audio files schema"),
        ("openai:gpt-4o-audio-preview", "audio tools", "images schema"),
        ("openai:gpt-4o-mini-transcribe", "transcription", "chat tools"),
        ("openai:text-embedding-3-small", "embeddings", "chat tools images"),
        ("openai:gpt-image-1", "image_output images", "chat tools"),
        ("openai:o1-mini", "reasoning", "tools images schema"),
        ("anthropic:claude-sonnet-4-5", "tools images files schema web_search code_execution mcp temperature", "audio"),
        ("anthropic:claude-sonnet-4-20250514", "tools images web_search temperature", "schema audio"),
        ("anthropic:claude-opus-4-8", "tools schema", "temperature embeddings"),
        ("anthropic:claude-3-haiku-20240307", "tools images", "schema reasoning audio"),
        ("gemini:gemini-2.5-flash", "tools audio schema web_search", "schema_with_tools hosted_with_tools mcp"),
        ("gemini:gemini-3-flash-preview", "schema_with_tools hosted_with_tools code_execution", "mcp"),
        ("gemini:gemini-2.5-flash-image", "image_output images", "tools"),
        ("gemini:gemini-embedding-001", "embeddings", "chat"),
        ("deepseek:deepseek-chat", "tools", "images audio files schema"),
        ("groq:openai/gpt-oss-120b", "tools reasoning", "images schema"),
        ("groq:whisper-large-v3", "transcription", "chat"),
        ("openrouter:x/y", "web_search", "mcp"),
        ("llamacpp:any", "schema", "schema_with_tools web_search"),
    ],
)
def test_the_table_says_what_models_have_and_lack(model: str, has: str, lacks: str) -> None:
    known = capabilities_of(model)
    assert set(has.split()) <= known.has
    assert set(lacks.split()) <= known.lacks
    assert not known.has & known.lacks


def test_of_a_model_that_nobody_knows_nothing_is_said() -> None:
    assert capabilities_of("corp:own-model") == Capabilities()


def test_settings_come_before_the_table_and_an_exact_name_before_patterns() -> None:
    own = {"corp:*": "-tools images", "corp:big": "tools", "openai:gpt-5*": "audio -tools"}
    assert capabilities_of("corp:small", own) == Capabilities(frozenset({"images"}), frozenset({"tools"}))
    assert capabilities_of("corp:big", own) == Capabilities(frozenset({"tools", "images"}), MADE)
    known = capabilities_of("openai:gpt-5-mini", own)
    assert "audio" in known.has
    assert "tools" in known.lacks
    assert "images" in known.has


@pytest.mark.parametrize(
    ("words", "fault"), [("tools vision", "no capability 'vision'; known: tools, "), ("tools -tools", "both given")]
)
def test_words_that_are_none_are_told(words: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_capabilities(words)


def test_every_row_of_the_table_is_readable_and_of_a_known_provider() -> None:
    for pattern, words in TABLE.items():
        assert read_capabilities(words) != Capabilities(), pattern
        provider = re.compile(pattern.partition(":")[0].replace("*", ".*"))
        assert any(provider.fullmatch(name) for name in CATALOGUE), pattern


def test_every_default_model_may_converse_with_tools() -> None:
    for name, endpoint in CATALOGUE.items():
        if endpoint.default_model:
            assert not {"tools", "chat"} & capabilities_of(f"{name}:{endpoint.default_model}").lacks, name


def test_each_capability_is_had_by_some_model() -> None:
    assert set(SAID) == set(CAPABILITIES)
    without = {capability for capability in CAPABILITIES if capability != "chat" and not patterns_with(capability)}
    assert without == set()


def test_the_manual_shows_the_table() -> None:
    rows = [line for line in MANUAL.read_text(encoding="utf-8").splitlines() if re.match(r"\| `[a-z*-]+:", line)]
    assert rows == [f"| `{pattern}` | {words} |" for pattern, words in TABLE.items()]
    words = MANUAL.read_text(encoding="utf-8")
    assert all(f"`{capability}`" in words for capability in CAPABILITIES)
