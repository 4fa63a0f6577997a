"""Which model a run uses when nobody says: a key in the environment, else a server on this machine, else the demo."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from perdure.providers.catalogue import LOCAL_PROVIDERS, ProviderSettings
from perdure.providers.http import served_models

DEMO_MODEL = "demo:demo"


@dataclass(frozen=True, slots=True)
class Choice:
    """A model (``provider:model``) and, for a person to read, why it was taken."""

    model: str
    why: str


async def choose_model(
    named: str | None, environ: Mapping[str, str], settings: ProviderSettings | None = None
) -> Choice:
    """The model to use: the one ``named``, else by a key in ``environ``, else by a local server, else the demo.

    Local servers are asked at once and get half a second; nothing is raised, since the demo is always there.
    """
    settings = settings or ProviderSettings()
    if named:
        return Choice(named, "named")
    for name in settings.names():
        endpoint = settings.endpoint(name)
        if endpoint and endpoint.default_model and endpoint.key(environ):
            return Choice(f"{name}:{endpoint.default_model}", f"{endpoint.key_variable} is set")
    local = [(name, endpoint) for name in LOCAL_PROVIDERS if (endpoint := settings.endpoint(name))]
    served = await asyncio.gather(*(served_models(endpoint.base_url) for _, endpoint in local))
    for (name, endpoint), found in zip(local, served, strict=True):
        talking = [model for model in found.models if "embed" not in model.lower()]
        if talking:
            return Choice(f"{name}:{talking[0]}", f"{name} answers at {endpoint.base_url}")
    withheld = next((key for name in settings.names() if environ.get(key := settings.withheld(name), "")), "")
    key = f"{withheld} is not sent to the address that the settings say" if withheld else "no key is set"
    return Choice(DEMO_MODEL, f"{key} and no model server answers on this machine")
