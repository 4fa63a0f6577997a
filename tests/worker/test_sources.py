"""Where settings come from, which source wins, and what a person is told about a wrong one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from perdure.contracts.agent import ArgumentRule, ToolPolicy
from perdure.contracts.errors import InvalidSettingsError
from perdure.providers.catalogue import CATALOGUE
from perdure.worker.settings import Settings
from perdure.worker.sources import Loaded, line_of, load_settings


class Surroundings:
    """A working folder and a config folder of the test's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "here"
        self.config = folder / "config"
        self.folder.mkdir()
        self.config.mkdir()

    def load(self, given: Mapping[str, Any] | None = None, **environ: str) -> Loaded:
        return load_settings(given, environ=environ, folder=self.folder, config_folder=self.config)

    def error(self, given: Mapping[str, Any] | None = None, **environ: str) -> str:
        with pytest.raises(InvalidSettingsError) as caught:
            self.load(given, **environ)
        return str(caught.value)


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(tmp_path)


def test_without_any_source_the_defaults_hold(around: Surroundings) -> None:
    assert around.load() == Loaded(Settings(), {}, ())


def test_the_nearer_source_wins(around: Surroundings) -> None:
    (around.config / "perdure.toml").write_text(
        'model = "a:config"\nnamespace = "config"\ntask_queue = "config"\nport = 1'
    )
    (around.folder / "perdure.toml").write_text('model = "a:file"\nnamespace = "file"\ntask_queue = "file"')
    (around.folder / ".env").write_text("PERDURE_MODEL=a:dotenv\nexport PERDURE_NAMESPACE='dotenv'")
    settings = around.load({"model": "a:given", "port": None}, PERDURE_MODEL="a:environ").settings
    assert (settings.model, settings.namespace, settings.task_queue, settings.port) == ("a:given", "dotenv", "file", 1)
    assert around.load(PERDURE_MODEL="a:environ").settings.model == "a:environ"


def test_provider_tables_of_several_files_join(around: Surroundings) -> None:
    (around.config / "perdure.toml").write_text('[providers.a]\nbase_url = "https://a.example"')
    (around.folder / "perdure.toml").write_text('[providers.b]\nbase_url = "https://b.example"')
    assert set(around.load().settings.providers) == {"a", "b"}


def test_an_empty_variable_counts_as_unset(around: Surroundings) -> None:
    assert around.load(PERDURE_PORT="", PERDURE_NO_SUCH="") == Loaded(
        Settings(), {"PERDURE_PORT": "", "PERDURE_NO_SUCH": ""}
    )


def test_variables_hold_lists_tables_sizes_and_switches(around: Surroundings) -> None:
    settings = around.load(
        PERDURE_TOOLS="a:b, c.py",
        PERDURE_PROVIDERS='{"x": {"base_url": "http://localhost:1"}}',
        PERDURE_TRANSCRIPT_CACHE="1MiB",
        PERDURE_UI="off",
        PERDURE_DATA_DIR="~/perdure",
    ).settings
    assert settings.tools == ("a:b", "c.py")
    assert settings.providers["x"].base_url == "http://localhost:1"
    assert (settings.transcript_cache, settings.ui) == (1024 * 1024, False)
    assert settings.data_dir == Path.home() / "perdure"


def test_keys_in_dotenv_are_found_below_those_of_the_environment(around: Surroundings) -> None:
    (around.folder / ".env").write_text("OPENAI_API_KEY=from-file\nGROQ_API_KEY='pa$$word ${x}'")
    environ = around.load(OPENAI_API_KEY="from-outside").environ
    assert (environ["OPENAI_API_KEY"], environ["GROQ_API_KEY"]) == ("from-outside", "pa$$word ${x}")


def test_a_wrong_variable_is_named_with_what_is_expected(around: Surroundings) -> None:
    assert around.error(PERDURE_PORT="many") == (
        "PERDURE_PORT in the environment is 'many': expected a port number from 1 to 65535."
    )


def test_a_wrong_line_of_dotenv_is_named(around: Surroundings) -> None:
    (around.folder / ".env").write_text("PERDURE_IDLE_TIMEOUT=soon")
    assert around.error().startswith(f"PERDURE_IDLE_TIMEOUT in {around.folder}/.env is 'soon': expected a duration")


def test_a_wrong_value_in_a_file_is_named_with_its_line(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text('# ours\nmodel = "a:b"\n\nstep_limit = 0\n')
    assert around.error() == (
        f"step_limit in {around.folder}/perdure.toml, line 4 is 0: expected a whole number, 1 or more."
    )


def test_a_wrong_argument_is_named(around: Surroundings) -> None:
    assert around.error({"port": 0}) == "port is 0: expected a port number from 1 to 65535."


def test_a_wrong_value_of_the_losing_source_does_no_harm(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text('port = "many"')
    assert around.load(PERDURE_PORT="1").settings.port == 1


def test_an_unknown_key_of_a_file_is_an_error_with_its_line_and_what_was_meant(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text('model = "a:b"\nstep_limits = 3')
    assert around.error() == (
        f"There is no setting step_limits in {around.folder}/perdure.toml, line 2. Did you mean step_limit?"
    )


def test_an_unknown_key_of_a_provider_is_an_error_with_its_line(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text('[providers.x]\nbase_url = "https://x.example"\nkey = "canary-77aa"')
    said = around.error()
    assert said.startswith(f"providers.x.key in {around.folder}/perdure.toml, line 3: ")
    assert "key_variable" in said
    assert "canary" not in said


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[prices."corp:m"]\ninput = true\noutput = 0', 2, "prices.corp:m.input in {}: a price is US dollars per mill"),
        (
            '[prices."corp:m"]\ninptu = "canary"\ninput = 0\noutput = 0',
            2,
            "prices.corp:m.inptu in {}: there is no such field; did you mean input? known: input, output, cached",
        ),
        ('[prices."corp:m"]\ninput = 0', 1, "prices.corp:m.output in {}: it must be given."),
        (
            '[capabilities]\n"corp:m" = "tools -imags"',
            2,
            "capabilities.corp:m in {}: there is no capability 'imags'; known: tools, images, ",
        ),
        (
            "[providers.corp]\nbase_url = 'http://x'\nflags = {thinking = 'canary'}",
            1,
            "providers.corp in {}: flags.thinking: expected adaptive or a whole number.",
        ),
        ("[providers.corp]\nbase_url = 'http://x:99999'", 2, "providers.corp.base_url in {}: base_url must have a "),
        (
            "[providers.openai]\nkey_variable = 'sk-canary'",
            2,
            "providers.openai.key_variable in {}: that is no name of an environment variable, such as CORP_KEY;",
        ),
        (
            "[mcp_keys]\n'https://wiki.example/mcp' = 'sk-canary'",
            2,
            "mcp_keys.https://wiki.example/mcp in {}: that is no name of an environment variable",
        ),
        ("[mcp_keys]\n'https://u:canary@wiki.example' = 'K'", 1, "mcp_keys in {}: it must hold neither a user nor"),
        ("ui_url = 'https://u:canary@ui.example'", 1, "ui_url in {} has a value that cannot be used: expected a URL"),
        ("[models]\nsubagent = 'canary'", 2, "models.subagent in {}: it should be written provider:model, as in"),
        ("prices = 'canary'", 1, "prices in {}: this is no JSON (Expecting value: line 1 column 1 (char 0)). It is a"),
        ("prices = 3", 1, "prices in {}: it should be a valid dictionary. It is a table of model to prices."),
    ],
)
def test_what_is_wrong_within_a_table_is_told_with_its_place_and_without_the_value(
    around: Surroundings, text: str, line: int, said: str
) -> None:
    file = around.folder / "perdure.toml"
    file.write_text(text)
    told = around.error()
    assert told.startswith(said.format(f"{file}, line {line}")), told
    assert "canary" not in told


def test_a_table_changes_single_fields_of_a_known_provider(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text('[providers.openai]\nkey_variable = "MINE"\n')
    expected = CATALOGUE["openai"].model_copy(update={"key_variable": "MINE"})
    assert around.load().settings.provider_settings.endpoint("openai") == expected


def test_an_unknown_variable_is_a_warning_that_says_what_was_meant(around: Surroundings) -> None:
    loaded = around.load(PERDURE_MODLE="a:b", OTHER="x")
    assert loaded.settings.model is None
    assert loaded.warnings == (
        "PERDURE_MODLE in the environment is no setting and is passed over. Did you mean PERDURE_MODEL?",
    )


def test_a_line_of_dotenv_that_cannot_be_read_is_a_warning(around: Surroundings) -> None:
    (around.folder / ".env").write_text("PERDURE_MODEL=a:b\n=?\n")
    loaded = around.load()
    assert loaded.settings.model == "a:b"
    assert loaded.warnings == (f"Line 2 of {around.folder}/.env is not of the form NAME=value; passed over.",)


def test_a_file_that_is_no_toml_is_an_error(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_bytes(b"port = ")
    said = around.error()
    assert said.startswith(f"{around.folder}/perdure.toml is not valid TOML: ")
    assert "\n" not in said


@pytest.mark.parametrize("name", ["perdure.toml", ".env"])
def test_a_file_in_another_encoding_is_an_error_with_its_line(around: Surroundings, name: str) -> None:
    (around.folder / name).write_bytes(b"# fine\n# gr\xfcn\n")
    assert around.error() == (f"{around.folder}/{name} cannot be read: line 2 is not UTF-8: save the file as UTF-8.")


@pytest.mark.parametrize("name", ["perdure.toml", ".env"])
def test_a_folder_in_the_place_of_a_file_is_an_error(around: Surroundings, name: str) -> None:
    (around.folder / name).mkdir()
    assert around.error() == f"{around.folder}/{name} cannot be read: is a directory."


def test_the_value_of_a_secret_is_never_repeated(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text('api_key = ["canary-3d9b"]')
    assert around.error() == (
        f"api_key in {around.folder}/perdure.toml, line 1 has a value that cannot be used: expected a key."
    )


def test_a_long_value_is_cut(around: Surroundings) -> None:
    assert len(around.error(PERDURE_PORT="9" * 100_000)) < 200


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\nb = 2", ("b",), 2),
        ('"b" = 2', ("b",), 1),
        ("[providers.x]\nkey = 1\n[providers.y]\nkey = 2", ("providers", "y", "key"), 4),
        ("[providers]\nx = {base_url = 1}", ("providers", "x", "base_url"), 2),
        ("providers.x.base_url = 1", ("providers", "x", "base_url"), 1),
        ("# b = 1", ("b",), None),
    ],
)
def test_the_line_of_a_key_is_found(text: str, path: tuple[str, ...], line: int | None) -> None:
    assert line_of(text, path) == line


POLICY = """
[policy]
write_file = "ask"
[[policy.run]]
when = {command = {prefix = "git status"}}
then = "allow"
"""


def test_a_policy_is_a_table_in_a_file_and_json_in_the_environment(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text(POLICY)
    git = ArgumentRule(argument="command", match="prefix", value="git status")
    assert around.load().settings.policy == (
        ToolPolicy(tool="write_file", word="ask"),
        ToolPolicy(tool="run", word="allow", when=(git,)),
    )
    assert around.load(PERDURE_POLICY='{"a": "deny"}').settings.policy == (ToolPolicy(tool="a", word="deny"),)


def test_of_the_rules_of_two_files_those_of_the_nearer_come_first(around: Surroundings) -> None:
    (around.folder / "perdure.toml").write_text('[policy]\na = "deny"\n"*" = "ask"\n')
    (around.config / "perdure.toml").write_text('[policy]\nb = "allow"\na = "allow"\n')
    said = [(rule.tool, rule.word) for rule in around.load().settings.policy]
    assert said == [("a", "deny"), ("*", "ask"), ("b", "allow")]


def test_a_mistake_in_a_policy_is_told_with_its_place(around: Surroundings) -> None:
    file = around.folder / "perdure.toml"
    file.write_text(POLICY.replace('"allow"', '"never"'))
    assert around.error() == (f"policy.run.0.then in {file}, line 4 should be 'allow', 'ask', 'always_ask' or 'deny'.")
    file.write_text('policy = "deny"\n')
    assert around.error().startswith(f"policy in {file}, line 1: ")
    file.unlink()
    assert around.error(PERDURE_POLICY="{").startswith("PERDURE_POLICY in the environment: ")


@pytest.mark.parametrize(
    "name", ["step_limit", "port", "feedback_rounds", "concurrent_workflow_tasks", "start_timeout"]
)
def test_a_switch_is_no_number(around: Surroundings, name: str) -> None:
    (around.folder / "perdure.toml").write_text(f"{name} = true\n")
    assert around.error().startswith(f"{name} in {around.folder / 'perdure.toml'}, line 1 is True: expected a")


@pytest.mark.parametrize("time", ["99999999d", "9999999999d", "36501d"])
def test_runs_are_kept_for_a_time_that_a_server_can_count(around: Surroundings, time: str) -> None:
    assert around.error({"retention": time}) == f"retention is '{time}': expected a duration of 36500d or less."


@pytest.mark.parametrize("name", ["PERDURE_ACTOR", "PERDURE_DEBUG"])
def test_what_is_about_the_caller_is_taken_from_the_environment_alone(around: Surroundings, name: str) -> None:
    assert around.load(None, **{name: "ana"}).warnings == ()

    (around.folder / ".env").write_text(f"{name}=ana\n")
    (warning,) = around.load().warnings
    assert warning.startswith(f"{name} in {around.folder}/.env is no setting")
