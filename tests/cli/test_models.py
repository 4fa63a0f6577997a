from __future__ import annotations

import json
import re

import pytest

from perdure.cli.models import standing
from perdure.providers.catalogue import CATALOGUE
from tests.cli.programs import Home

SECRET = "sk-" + "a" * 40


def rows(alone: Home, **changes: str) -> dict[str, dict[str, object]]:
    told = alone.run("models", "--json", **changes)
    assert told.returncode == 0, told
    return {row["provider"]: row for row in map(json.loads, told.stdout.splitlines())}


def test_a_provider_is_ready_when_its_key_is_set_and_the_key_is_not_shown(alone: Home) -> None:
    told = alone.run("models", OPENAI_API_KEY=SECRET)

    lines = told.stdout.splitlines()
    assert lines[1].split()[:2] == ["openai", "yes"]
    assert "OPENAI_API_KEY is set" in lines[1]
    assert any(line.split()[:4] == ["anthropic", "-", "set", "ANTHROPIC_API_KEY"] for line in lines)
    assert "default  openai:gpt-5-mini (OPENAI_API_KEY is set)" in lines
    assert SECRET not in told.stdout + told.stderr


def test_without_a_key_the_demo_is_the_default_and_says_why(alone: Home) -> None:
    told = alone.run("models")

    assert "default  demo:demo (no key is set and no model server answers on this machine)" in told.stdout
    assert rows(alone)["ollama"]["status"] == "does not answer"


def test_the_setting_is_the_default(alone: Home) -> None:
    told = alone.run("models", PERDURE_MODEL="groq:some-model")

    assert "default  groq:some-model (the setting `model`)" in told.stdout


def test_a_server_that_answers_is_ready_and_counts_its_models() -> None:
    assert standing(CATALOGUE["ollama"], {}, ("qwen3", "llama")) == (True, "answers, 2 models")


def test_an_error_about_a_model_names_the_command_that_lists_them(alone: Home) -> None:
    assert "`perdure models`" in alone.run("run", "task", "--model", "openai:x").stderr
    assert "`perdure models`" in alone.run("run", "task", "--model", "unheard:x").stderr


def test_what_is_known_of_the_default_model_is_said(alone: Home) -> None:
    key = {"OPENAI_API_KEY": "sk-any", "PERDURE_MODEL": "openai:gpt-5-mini"}
    shown = alone.run("models", **key).stdout
    rows = [json.loads(line) for line in alone.run("models", "--json", **key).stdout.splitlines()]

    assert re.search(r"^has +tools; images as input", shown, re.MULTILINE), shown
    assert re.search(r"^lacks +", shown, re.MULTILINE), shown
    openai = next(row for row in rows if row["provider"] == "openai")
    assert "tools" in openai["has"]
    assert "video_output" in openai["lacks"]


def test_a_vendor_at_another_address_keeps_its_protocol_and_says_that_its_key_is_not_sent(alone: Home) -> None:
    moved = {"anthropic": {"base_url": "http://127.0.0.1:9/v1"}}
    told = alone.run("models", "--json", ANTHROPIC_API_KEY=SECRET, PERDURE_PROVIDERS=json.dumps(moved))

    row = next(json.loads(line) for line in told.stdout.splitlines() if '"anthropic"' in line)
    assert (row["ready"], row["status"], row["protocol"]) == (False, "names no key_variable", "anthropic")
    assert "ANTHROPIC_API_KEY is not sent to http://127.0.0.1:9/v1; name it as key_variable" in told.stderr


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("PERDURE_MODEL", "gpt-5", "setting model: A model is named provider:model"),
        ("PERDURE_MODEL", "opnai:gpt-5", "setting model: There is no provider 'opnai'"),
        ("PERDURE_FALLBACKS", "nope:x", "setting fallbacks: There is no provider 'nope'"),
        ("PERDURE_MODELS", '{"subagent": "openai:x"}', "setting models: The provider 'openai' needs a key"),
    ],
)
def test_a_model_of_the_settings_that_cannot_be_used_is_a_warning(
    alone: Home, setting: str, value: str, said: str
) -> None:
    told = alone.run("models", **{setting: value})

    assert told.returncode == 0, told
    assert f"warning: {said}" in told.stderr
    assert "warning" not in alone.run("models").stderr
