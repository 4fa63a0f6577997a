"""What a worker is put together from, and what is said of a part that cannot be used."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from perdure.activities.notify import CommandHook, WebhookHook
from perdure.contracts.agent import ToolPolicy
from perdure.contracts.errors import InvalidSettingsError, KeyMissingError, UnknownModelError, UnknownToolError
from perdure.providers.catalogue import Endpoint
from perdure.worker.parts import control_paths, gather_parts, hooks_of, named_models
from perdure.worker.settings import Settings
from perdure.worker.sources import load_settings


async def test_built_in_tools_and_those_of_the_settings_are_served(tmp_path: Path) -> None:
    tool = tmp_path / "colours.py"
    tool.write_text('def mix(first: str, second: str) -> str:\n    """Mix."""\n    return "green"\n')
    parts = await gather_parts(Settings(tools=(str(tool),), model="demo:demo"), {})
    assert {"read_file", "write_file", "list_dir", "execute_command", "fetch_url", "ask_human", "mix"} <= set(
        parts.toolbox.names
    )


async def test_agents_come_from_the_folders_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "poet.md").write_text("Write verse.\n")
    parts = await gather_parts(Settings(agents=(tmp_path,), model="demo:demo"), {})
    assert parts.shelf.get("poet").prompt.strip() == "Write verse."


async def test_the_model_that_is_named_is_taken_and_a_key_comes_before_local_servers() -> None:
    named = await gather_parts(Settings(model="demo:demo"), {"OPENAI_API_KEY": "canary-key"})
    assert named.choice.model == "demo:demo"
    keyed = await gather_parts(Settings(), {"OPENAI_API_KEY": "canary-key"})
    assert keyed.choice.model.startswith("openai:")
    assert "canary" not in keyed.choice.why


async def test_a_provider_of_the_settings_serves_its_models() -> None:
    endpoint = Endpoint(base_url="http://127.0.0.1:1/v1", key_variable="CORP_KEY")
    settings = Settings(model="corp:m", providers={"corp": endpoint})
    assert (await gather_parts(settings, {"CORP_KEY": "x"})).choice.model == "corp:m"
    with pytest.raises(KeyMissingError, match="CORP_KEY"):
        await gather_parts(settings, {})


async def test_parts_that_cannot_be_used_are_errors_before_anything_starts() -> None:
    with pytest.raises(UnknownToolError, match="no_such"):
        await gather_parts(Settings(tools=("no_such:tool",), model="demo:demo"), {})
    with pytest.raises(UnknownModelError, match="nobody"):
        await gather_parts(Settings(model="nobody:x"), {})


async def test_every_model_that_the_settings_name_must_be_usable() -> None:
    settings = Settings(model="demo:demo", fallbacks=("demo:two",), models={"compression": "demo:three"})
    parts = await gather_parts(settings, {})
    assert named_models(settings, parts.choice).all == ("demo:demo", "demo:two", "demo:three")
    for more in ({"fallbacks": ("openai:gpt-5",)}, {"models": {"compression": "openai:gpt-5"}}):
        with pytest.raises(KeyMissingError, match="OPENAI_API_KEY"):
            await gather_parts(Settings(model="demo:demo", **more), {})


def test_models_are_read_from_the_environment() -> None:
    settings = load_settings(
        environ={"PERDURE_FALLBACKS": "a:1, b:2", "PERDURE_MODELS": '{"subagent": "c:3"}'}
    ).settings
    assert (settings.fallbacks, settings.models) == (("a:1", "b:2"), {"subagent": "c:3"})
    for name, value in (("PERDURE_FALLBACKS", "gpt"), ("PERDURE_MODELS", '{"titles": "c:3"}')):
        with pytest.raises(InvalidSettingsError, match=name):
            load_settings(environ={name: value})


async def test_hooks_of_the_settings_are_loaded_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "hooks.py"
    file.write_text("def watch(event): ...\n")
    named = (f"{file}:watch",)
    parts = await gather_parts(Settings(model="demo:demo", before_model_call=named, on_model_error=named), {})
    assert parts.model_hooks.names == named
    for setting in ("before_model_call", "on_model_usage", "on_model_answer", "on_model_error"):
        with pytest.raises(InvalidSettingsError, match="has no plain function 'gone'"):
            await gather_parts(Settings(model="demo:demo", **{setting: (f"{file}:gone",)}), {})


async def test_the_house_policy_is_checked_before_anything_starts(tmp_path: Path) -> None:
    rules = tmp_path / "rules.py"
    rules.write_text("def decide(tool, arguments, context):\n    return 'ask'\n")
    named = f"{rules}:decide"
    policy = (ToolPolicy(tool="write_file", resolver=named), ToolPolicy(tool="mail__*", word="deny"))
    parts = await gather_parts(Settings(model="demo:demo", policy=policy, resolvers=(named,)), {})
    assert parts.resolvers.names == (named,)
    with pytest.raises(InvalidSettingsError, match="not among the setting `resolvers`: none"):
        await gather_parts(Settings(model="demo:demo", policy=policy), {})
    misspelt = (ToolPolicy(tool="wirte_file", word="deny"),)
    with pytest.raises(UnknownToolError, match=r"The house policy names the tool 'wirte_file'.*'write_file'"):
        await gather_parts(Settings(model="demo:demo", policy=misspelt), {})


def test_what_steers_the_worker_is_under_its_control(tmp_path: Path) -> None:
    settings = Settings(
        agents=(tmp_path / "agents",),
        data_dir=tmp_path / "data",
        workspace=tmp_path,
        tools=(f"{tmp_path}/a.py:f", f"{tmp_path}/b.py", "package.module:f"),
        resolvers=(f"{tmp_path}/c.py:f",),
        before_model_call=(f"{tmp_path}/d.py:f",),
        on_model_usage=(f"{tmp_path}/e.py:f",),
        on_model_answer=(f"{tmp_path}/f.py:f",),
        on_model_error=(f"{tmp_path}/g.py:f",),
    )
    paths = set(control_paths(settings))
    expected = ("agents", "data", "perdure.toml", ".env", "a.py", "b.py", "c.py", "d.py", "e.py", "f.py", "g.py")
    assert {tmp_path / name for name in expected} <= paths
    assert Path.cwd() / "perdure.toml" in paths
    assert not any("package" in str(path) for path in paths - {Path.cwd()})


def test_whom_the_settings_name_is_notified(tmp_path: Path) -> None:
    assert hooks_of(Settings(), {}) == ()
    settings = load_settings(
        environ={
            "PERDURE_NOTIFY_COMMAND": "notify-send 'An agent asks' --urgency=normal",
            "PERDURE_NOTIFY_WEBHOOK": "https://hooks.example/x",
            "PERDURE_NOTIFY_SECRET": "canary-secret",
            "PERDURE_NOTIFY_TIMEOUT": "3s",
        },
        folder=tmp_path,
        config_folder=tmp_path,
    ).settings
    command, webhook = hooks_of(settings, {"PATH": "/bin"})
    assert isinstance(command, CommandHook)
    assert command.command == ("notify-send", "An agent asks", "--urgency=normal")
    assert isinstance(webhook, WebhookHook)
    assert (webhook.url, webhook.secret, webhook.patience) == (
        "https://hooks.example/x",
        "canary-secret",
        timedelta(seconds=3),
    )
    assert "canary" not in repr(hooks_of(settings, {}))
    assert "hooks.example" not in repr(hooks_of(settings, {}))


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("PERDURE_NOTIFY_COMMAND", "mail 'unclosed", "a command with its arguments"),
        ("PERDURE_NOTIFY_WEBHOOK", "canary.example/x", "a URL"),
        ("PERDURE_NOTIFY_TIMEOUT", "5m", "a duration of 20s or less"),
    ],
)
def test_a_hook_that_cannot_be_used_is_an_error_that_repeats_no_url(
    tmp_path: Path, variable: str, value: str, expected: str
) -> None:
    with pytest.raises(InvalidSettingsError, match=f"{variable} in the environment .*expected {expected}") as wrong:
        load_settings(environ={variable: value}, folder=tmp_path, config_folder=tmp_path)
    assert "canary" not in str(wrong.value)
