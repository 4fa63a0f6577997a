"""Settings: every value that can be set, with its default, in one table. `perdure.worker.sources` reads them.

``docs/settings.md`` shows the same table; a test compares the two.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import platformdirs
from pydantic import AfterValidator, BeforeValidator, ByteSize, DirectoryPath, Field, FilePath, SecretStr

from perdure.activities.hooks import HOOK_TIMEOUT
from perdure.contracts.activities import Patience
from perdure.contracts.agent import Limits, Purpose, ToolPolicy
from perdure.contracts.durations import Duration
from perdure.contracts.names import DEFAULT_TASK_QUEUE
from perdure.contracts.record import FileRecord
from perdure.contracts.requests import DEFAULT_IDLE_TIMEOUT
from perdure.providers.catalogue import Endpoint, ProviderSettings, VariableName, Words
from perdure.providers.own_prices import Price
from perdure.worker.values import (
    check_secret_url,
    check_url,
    full_path,
    no_switch,
    read_command,
    read_keys,
    read_list,
    read_providers,
    read_rules,
    read_table,
)

APPLICATION = "perdure"
DEFAULT_PORT = 7233
"""Where Temporal's own tools look for a server on this machine."""


Whole = Annotated[int, BeforeValidator(no_switch)]
FullPath = Annotated[Path, BeforeValidator(full_path)]
File = Annotated[FilePath, BeforeValidator(full_path)]
Folder = Annotated[DirectoryPath, BeforeValidator(full_path)]
ADDRESS = r"^([\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}$"
ModelName = Annotated[str, Field(pattern=r"^[^:\s]+:\S+$")]
Name = Annotated[str, Field(pattern=r"^\S+$")]
Port = Annotated[Whole, Field(ge=1, le=65535)]
Count = Annotated[Whole, Field(ge=1)]
Size = Annotated[ByteSize, BeforeValidator(no_switch), Field(gt=0)]

A_PORT = "a port number from 1 to 65535"
A_COUNT = "a whole number, 1 or more"
A_DURATION = "a duration such as 250ms, 30s, 5m, 24h or 30d"
A_SIZE = "a size such as 64KiB or 1MiB"
A_FOLDER = "a folder"
A_FILE = "a file that exists"
A_SWITCH = "true or false"
HOOKS = "module:function or file.py:function, separated by commas"


def setting(default: Any, expects: str, meaning: str, shown: str | None = None) -> Any:
    """A field of `Settings`. ``expects`` completes "expected …" of an error; ``meaning`` is for the manual.

    A default that depends on the machine is given as a function, with ``shown`` to stand for it in the manual.
    """
    given = {"default_factory": default} if callable(default) else {"default": default}
    return Field(**given, description=meaning, json_schema_extra={"expects": expects, "shown": shown})


class Settings(FileRecord):
    """All settings. Made by hand it reads nothing from outside; `perdure.worker.sources.load_settings` does."""

    address: Annotated[str, Field(pattern=ADDRESS)] | None = setting(
        None,
        "host:port",
        "Temporal server to use. Unset: one on this machine, started when needed.",
    )
    namespace: Name = setting("default", "a name", "Temporal namespace.")
    task_queue: Name = setting(DEFAULT_TASK_QUEUE, "a name", "Temporal task queue that the worker serves.")
    api_key: SecretStr | None = setting(None, "a key", "API key of Temporal Cloud; turns TLS on.")
    tls: bool | None = setting(None, A_SWITCH, "Whether to use TLS. Unset: when a key or certificate is given.")
    tls_ca: File | None = setting(None, A_FILE, "Certificate of the authority that signed the server's (PEM).")
    tls_cert: File | None = setting(None, A_FILE, "Client certificate for mutual TLS (PEM).")
    tls_key: File | None = setting(None, A_FILE, "Private key of the client certificate (PEM).")
    connect_timeout: Duration = setting(
        timedelta(seconds=5),
        A_DURATION,
        "How long a configured server may take to answer.",
    )
    ui_url: Annotated[str, AfterValidator(check_url)] | None = setting(
        None, "a URL without a user or a query", "Where the Temporal UI is, for links."
    )

    port: Port | None = setting(
        None,
        A_PORT,
        f"Port of the server on this machine. Unset: {DEFAULT_PORT}, or a free one when that is taken.",
    )
    ui_port: Port | None = setting(None, A_PORT, "Port of its UI. Unset: the server's port + 1000, or a free one.")
    ui: bool = setting(True, A_SWITCH, "Whether that server has a UI.")
    data_dir: FullPath = setting(
        lambda: platformdirs.user_data_path(APPLICATION),
        A_FOLDER,
        "Where that server keeps its database.",
        "the user's data folder",
    )
    start_timeout: Duration = setting(timedelta(seconds=30), A_DURATION, "How long that server may take to start.")
    retention: Annotated[Duration, Field(le=timedelta(days=36_500))] = setting(
        timedelta(days=30), "a duration of 36500d or less", "How long that server keeps runs that have ended."
    )

    model: str | None = setting(
        None, "provider:model", "Model of runs and agents that name none. Unset: chosen by keys and local servers."
    )
    fallbacks: Annotated[tuple[ModelName, ...], BeforeValidator(read_list)] = setting(
        (), "provider:model, separated by commas", "Models that are asked, in order, when that model cannot answer."
    )
    models: Annotated[dict[Purpose, ModelName], BeforeValidator(read_table)] = setting(
        dict,
        f"a table of provider:model for {' or '.join(get_args(Purpose))}",
        "Models for other purposes than answering. Unset: the run's own.",
        "none",
    )
    providers: Annotated[dict[str, Endpoint], BeforeValidator(read_providers)] = setting(
        dict, "a table of providers", "Further providers, and changes to known ones (see below).", "none"
    )
    capabilities: Annotated[dict[str, Words], BeforeValidator(read_table)] = setting(
        dict, "a table of model to words", "What models have and lack, before our own table (see models.md).", "none"
    )
    prices: Annotated[dict[str, Price], BeforeValidator(read_table)] = setting(
        dict,
        "a table of model to prices",
        "Prices in US dollars per million tokens, before the price list (see models.md).",
        "none",
    )
    mcp_keys: Annotated[dict[str, VariableName], BeforeValidator(read_keys)] = setting(
        dict, "a table of address to variable", "Variables with the keys of MCP servers that providers call.", "none"
    )
    provider_connect_timeout: Duration = setting(
        timedelta(seconds=ProviderSettings().connect_timeout), A_DURATION, "How long connecting to a provider may take."
    )
    provider_read_timeout: Duration = setting(
        timedelta(seconds=ProviderSettings().read_timeout),
        A_DURATION,
        "Longest silence of a provider's connection; pings end it.",
    )
    tools: Annotated[tuple[str, ...], BeforeValidator(read_list)] = setting(
        (), "module:function or file paths", "Tools to serve beside the built-in ones, separated by commas."
    )
    agents: Annotated[tuple[FullPath, ...], BeforeValidator(read_list)] = setting(
        lambda: (Path("agents").absolute(), platformdirs.user_config_path(APPLICATION) / "agents"),
        "folders",
        "Folders with agent files, separated by commas; the first that has a name wins.",
        "agents, and agents in the user's config folder",
    )
    policy: Annotated[tuple[ToolPolicy, ...], BeforeValidator(read_rules)] = setting(
        (),
        "a table of tools with a word or rules each",
        "Policy that holds beside each agent's own; the stricter counts.",
    )
    resolvers: Annotated[tuple[str, ...], BeforeValidator(read_list)] = setting(
        (), "module:function or file paths", "Functions that policies may name as resolvers, separated by commas."
    )
    workspace: Folder = setting(
        Path.cwd, "a folder that exists", "Folder that file tools and commands work in.", "the working folder"
    )

    notify_command: Annotated[tuple[str, ...], BeforeValidator(read_command)] = setting(
        (), "a command with its arguments", "Command that is told when people are asked; it reads JSON. No shell."
    )
    notify_webhook: Annotated[SecretStr, AfterValidator(check_secret_url)] | None = setting(
        None, "a URL", "URL that is told when people are asked; it gets JSON by POST."
    )
    notify_secret: SecretStr | None = setting(None, "a secret", "Secret that signs what the webhook gets.")
    notify_timeout: Annotated[Duration, Field(le=timedelta(seconds=20))] = setting(
        timedelta(seconds=10), "a duration of 20s or less", "How long the command and the webhook may take."
    )

    step_limit: Count = setting(Limits().steps, A_COUNT, "Steps of a turn at most; the last one must answer.")
    feedback_rounds: Annotated[Whole, Field(ge=0)] = setting(
        Limits().feedback_rounds, "a whole number, 0 or more", "Rounds in which a model may mend unusable calls."
    )
    idle_timeout: Duration = setting(
        DEFAULT_IDLE_TIMEOUT, A_DURATION, "How long a conversation rests before it is closed."
    )

    before_model_call: Annotated[tuple[str, ...], BeforeValidator(read_list)] = setting(
        (), HOOKS, "Hooks that must agree to each model call."
    )
    on_model_usage: Annotated[tuple[str, ...], BeforeValidator(read_list)] = setting(
        (), HOOKS, "Hooks that are told what each attempt of a model call took."
    )
    on_model_answer: Annotated[tuple[str, ...], BeforeValidator(read_list)] = setting(
        (), HOOKS, "Hooks that are told each answer of a model."
    )
    on_model_error: Annotated[tuple[str, ...], BeforeValidator(read_list)] = setting(
        (), HOOKS, "Hooks that are told each failed attempt of a model call."
    )
    model_hook_timeout: Duration = setting(HOOK_TIMEOUT, A_DURATION, "How long a model call waits for a hook.")

    heartbeat_timeout: Annotated[Duration, Field(ge=timedelta(seconds=1))] = setting(
        Patience().heartbeat, "a duration of 1s or more", "Silence of a call after which its worker counts as dead."
    )
    heartbeat_throttle: Annotated[Duration, Field(le=timedelta(seconds=1))] = setting(
        timedelta(milliseconds=200),
        "a duration of 1s or less",
        "Time between heartbeats, which carry live text and stops.",
    )
    model_deadline: Duration = setting(
        Patience().model_call, A_DURATION, "How long one attempt of a model call may take."
    )
    model_attempts: Count = setting(Patience().model_attempts, A_COUNT, "Attempts of a model call at most.")
    tool_attempts: Count = setting(
        Patience().tool_attempts, A_COUNT, "Attempts of a call of an idempotent tool at most; other tools get one."
    )
    concurrent_activities: Count = setting(100, A_COUNT, "Model and tool calls that the worker runs at once.")
    concurrent_workflow_tasks: Annotated[Whole, Field(ge=2)] = setting(
        100, "a whole number, 2 or more", "Decisions of runs that the worker makes at once."
    )
    cached_runs: Annotated[Whole, Field(ge=0)] = setting(
        1000, "a whole number, 0 or more", "Runs held in memory; others are replayed when they go on."
    )
    transcript_cache: Size = setting(
        ByteSize(64 * 1024 * 1024), A_SIZE, "Memory for transcripts; others are fetched from their runs again."
    )
    shutdown_grace: Duration = setting(
        timedelta(seconds=10), A_DURATION, "How long running calls may go on when the worker is told to end."
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "debug, info, warning or error", "What the worker logs."
    )
    log_format: Literal["auto", "text", "json"] = setting(
        "auto", "auto, text or json", "How it logs; auto is text on a terminal and JSON elsewhere."
    )
    log_file: FullPath = setting(
        lambda: platformdirs.user_log_path(APPLICATION) / "perdure.log",
        "a file",
        "Where the commands, and a worker inside one, log; `perdure serve` logs to its error stream.",
        "perdure.log in the user's log folder",
    )

    @property
    def patience(self) -> Patience:
        """What new runs are told about deadlines and attempts."""
        return Patience(
            heartbeat=self.heartbeat_timeout,
            model_call=self.model_deadline,
            model_attempts=self.model_attempts,
            tool_attempts=self.tool_attempts,
        )

    @property
    def provider_settings(self) -> ProviderSettings:
        """What the provider room is told."""
        return ProviderSettings(
            endpoints=self.providers,
            capabilities=self.capabilities,
            prices=self.prices,
            mcp_keys=self.mcp_keys,
            connect_timeout=self.provider_connect_timeout.total_seconds(),
            read_timeout=self.provider_read_timeout.total_seconds(),
        )

    @property
    def limits(self) -> Limits:
        """The limits of agents and runs that name none."""
        return Limits(steps=self.step_limit, feedback_rounds=self.feedback_rounds)
