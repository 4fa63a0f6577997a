"""Showing models: which providers are ready, which servers of this machine answer, and what is used by default."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.session import read_settings, said
from perdure.cli.table import NOTHING, show_table
from perdure.cli.text import counted, plain
from perdure.contracts.errors import PerdureError
from perdure.contracts.record import Record
from perdure.providers.capabilities import CAPABILITIES, SAID, capabilities_of
from perdure.providers.catalogue import LOCAL_PROVIDERS, Endpoint, ProviderSettings
from perdure.providers.choice import choose_model
from perdure.providers.http import Served, served_models
from perdure.providers.registry import ProviderRegistry
from perdure.worker.sources import Loaded

TITLES = ("PROVIDER", "READY", "STATUS", "MODELS", "ADDRESS")
SHOWN_MODELS = 4


class ProviderRow(Record):
    """A provider. ``ready``: its key is set, or it needs none; for a server of this machine: it answers.

    ``has`` and ``lacks`` are what is known of its default model, by the names of docs/models.md.
    """

    provider: str
    ready: bool
    status: str
    base_url: str
    protocol: str
    default_model: str = ""
    models: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


async def list_models(*, as_json: bool) -> int:
    """Show every provider that is known, and the model that a run uses when nobody names one."""
    screen = Screen()
    loaded = read_settings(screen)
    settings = loaded.settings.provider_settings
    async with said(screen, "Looking for model servers on this machine …"):
        rows = await asyncio.gather(*(row(name, settings, loaded.environ) for name in settings.names()))
        choice = await choose_model(loaded.settings.model, loaded.environ, settings)
    for each in rows:
        if variable := settings.withheld(each.provider):
            said_of_it = f"{variable} is not sent to {each.base_url}; name it as key_variable ('' for no key)"
            screen.note(f"warning: {plain(each.provider)}: {plain(said_of_it)}.", "alert")
    for fault in await unusable_models(loaded):
        screen.note(f"warning: {plain(fault)}", "alert")
    if as_json:
        for each in rows:
            screen.line(each.model_dump_json())
        return 0
    ordered = sorted(rows, key=lambda row: not row.ready)
    show_table(screen, TITLES, map(cells, ordered), folded=("MODELS", "ADDRESS"))
    why = "the setting `model`" if loaded.settings.model else choice.why
    screen.write((Span(f"\ndefault  {plain(choice.model)} ({plain(why)})\n", "strong"),))
    known = capabilities_of(choice.model, settings.capabilities)
    for title, words in (("has", known.has), ("lacks", known.lacks)):
        said_of_it = "; ".join(SAID[each] for each in CAPABILITIES if each in words)
        screen.write((Span(f"{title:<8} {said_of_it or 'unknown'}\n"),))
    screen.note("`perdure models check [PROVIDER:MODEL]` makes one small call and says what works.", "quiet")
    return 0


async def row(name: str, settings: ProviderSettings, environ: Mapping[str, str]) -> ProviderRow:
    """What can be said of one provider; a server of this machine is asked which models it has."""
    endpoint = settings.endpoint(name)
    assert endpoint is not None
    served = await served_models(endpoint.base_url) if name in LOCAL_PROVIDERS else Served()
    ready, status = (False, served.instead) if served.instead else standing(endpoint, environ, served.models)
    if settings.withheld(name):
        ready, status = False, "names no key_variable"
    known = capabilities_of(f"{name}:{endpoint.default_model}", settings.capabilities)
    return ProviderRow(
        provider=name,
        ready=ready,
        status=status,
        base_url=endpoint.base_url,
        protocol=endpoint.protocol,
        default_model=endpoint.default_model,
        models=served.models,
        has=tuple(each for each in CAPABILITIES if each in known.has) if endpoint.default_model else (),
        lacks=tuple(each for each in CAPABILITIES if each in known.lacks) if endpoint.default_model else (),
    )


async def unusable_models(loaded: Loaded) -> list[str]:
    """What is wrong with the models that the settings name."""
    settings = loaded.settings
    named = (
        ("model", (settings.model,) if settings.model else ()),
        ("fallbacks", settings.fallbacks),
        ("models", settings.models.values()),
    )
    providers = ProviderRegistry(settings.provider_settings, loaded.environ)
    faults: list[str] = []
    for setting, models in named:
        for model in models:
            try:
                providers.open(model)
            except PerdureError as error:
                faults.append(f"setting {setting}: {error}")
    await providers.close()
    return faults


def standing(endpoint: Endpoint, environ: Mapping[str, str], models: tuple[str, ...]) -> tuple[bool, str]:
    """Whether a provider can be used, and why, in words."""
    if models:
        return True, f"answers, {counted(len(models), 'model')}"
    if not endpoint.key_variable:
        return True, "needs no key"
    if environ.get(endpoint.key_variable, "").strip():
        return True, f"{endpoint.key_variable} is set"
    return False, f"set {endpoint.key_variable}"


def cells(row: ProviderRow) -> tuple[str, ...]:
    """The provider under `TITLES`."""
    more = f", … (+{len(row.models) - SHOWN_MODELS})" if len(row.models) > SHOWN_MODELS else ""
    models = ", ".join(row.models[:SHOWN_MODELS]) + more if row.models else row.default_model
    return row.provider, "yes" if row.ready else NOTHING, row.status, models, row.base_url
