"""What a worker is put together from: tools, agents, providers, a model; checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from perdure.activities.builtin import builtin_tools
from perdure.activities.hooks import ModelHooks, load_model_hooks
from perdure.activities.notify import CommandHook, Hook, WebhookHook
from perdure.activities.redaction import KnownSecrets
from perdure.activities.resolvers import Resolvers, load_resolvers
from perdure.activities.toolbox import Toolbox, load_tools
from perdure.agents.freeze import check_policy
from perdure.agents.models import NamedModels
from perdure.agents.shelf import AgentShelf
from perdure.contracts.agent import ToolPolicy
from perdure.contracts.errors import InvalidSettingsError
from perdure.providers.choice import Choice, choose_model
from perdure.providers.registry import ProviderRegistry
from perdure.worker.logs import secrets_of
from perdure.worker.settings import APPLICATION, Settings
from perdure.worker.sources import FILE


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one worker. ``choice`` is the model of runs and agents that name none, and why it was taken;
    ``secrets`` are what no tool may return."""

    toolbox: Toolbox
    shelf: AgentShelf
    providers: ProviderRegistry
    choice: Choice
    resolvers: Resolvers
    model_hooks: ModelHooks
    secrets: KnownSecrets


async def gather_parts(settings: Settings, environ: Mapping[str, str]) -> Parts:
    """Find and check all parts. Loading tools imports their modules; local model servers are asked when nothing else
    names a model.

    Raises UnknownToolError for a tool path that leads nowhere, InvalidSettingsError for such a resolver or hook, both
    also when the house policy names what is not served, and UnknownModelError or KeyMissingError for a model that
    cannot be used.
    """
    toolbox = load_tools(settings.tools, builtin=builtin_tools())
    resolvers = load_resolvers(settings.resolvers)
    model_hooks = load_model_hooks(
        before=settings.before_model_call,
        usage=settings.on_model_usage,
        completion=settings.on_model_answer,
        error=settings.on_model_error,
        timeout=settings.model_hook_timeout,
    )
    check_policy("The house policy", settings.policy, toolbox.specs)
    check_resolvers(settings.policy, resolvers)
    providers = ProviderRegistry(settings.provider_settings, environ)
    choice = await choose_model(settings.model, environ, settings.provider_settings)
    for model in named_models(settings, choice).all:
        providers.open(model)
    secrets = KnownSecrets(secrets_of(settings, environ))
    return Parts(toolbox, AgentShelf(settings.agents), providers, choice, resolvers, model_hooks, secrets)


def named_models(settings: Settings, choice: Choice) -> NamedModels:
    """The models of runs and agents that name none."""
    return NamedModels(choice.model, settings.fallbacks, settings.models)


def check_resolvers(policy: tuple[ToolPolicy, ...], resolvers: Resolvers) -> None:
    """Check that the house policy names only resolvers of the settings. Raises InvalidSettingsError."""
    for rule in policy:
        if rule.resolver and rule.resolver not in resolvers.names:
            listed = ", ".join(resolvers.names) or "none"
            raise InvalidSettingsError(
                f"The house policy names the resolver {rule.resolver!r} for {rule.tool!r}, which is not among "
                f"the setting `resolvers`: {listed}."
            )


def hooks_of(settings: Settings, environ: Mapping[str, str]) -> tuple[Hook, ...]:
    """Whom the settings say to notify. ``environ`` is what the command gets, without its secrets."""
    found: list[Hook] = []
    if settings.notify_command:
        found.append(CommandHook(settings.notify_command, Path.cwd(), environ, settings.notify_timeout))
    if settings.notify_webhook is not None:
        secret = settings.notify_secret.get_secret_value() if settings.notify_secret else ""
        found.append(WebhookHook(settings.notify_webhook.get_secret_value(), settings.notify_timeout, secret))
    return tuple(found)


def control_paths(settings: Settings) -> tuple[Path, ...]:
    """Our own files and folders: whoever changes them changes agents, tools, policies and settings."""
    hooks = (
        *settings.before_model_call,
        *settings.on_model_usage,
        *settings.on_model_answer,
        *settings.on_model_error,
    )
    code = (*settings.tools, *settings.resolvers, *hooks)
    tool_files = (f"{stem}.py" for path in code if (stem := path.rpartition(".py")[0]))
    return (
        *settings.agents,
        settings.data_dir,
        platformdirs.user_config_path(APPLICATION),
        *(folder / name for folder in dict.fromkeys((Path.cwd(), settings.workspace)) for name in (FILE, ".env")),
        *(Path(file).expanduser().absolute() for file in tool_files),
    )
