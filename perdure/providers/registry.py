"""Providers by name: ``provider:model`` leads to the one that serves it, each made once and closed together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace

from perdure.contracts.errors import KeyMissingError, UnknownModelError, UnsupportedCapabilityError
from perdure.contracts.generation import Way
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import HostedTool
from perdure.providers.adapter import Adapter
from perdure.providers.admission import Admission
from perdure.providers.anthropic import AnthropicProvider
from perdure.providers.catalogue import ProviderSettings, WireProtocol
from perdure.providers.demo import DemoProvider
from perdure.providers.gemini import GeminiProvider
from perdure.providers.makers import Makers
from perdure.providers.openai_chat import ChatProvider
from perdure.providers.openai_responses import ResponsesProvider
from perdure.providers.provider import Provider
from perdure.providers.scripted import Script, ScriptedProvider
from perdure.providers.service import Service

_PLAYED = ("demo", "scripted")

ADAPTERS: Mapping[WireProtocol, type[Adapter]] = {
    "openai-chat": ChatProvider,
    "openai-responses": ResponsesProvider,
    "anthropic": AnthropicProvider,
    "gemini": GeminiProvider,
}
"""Who speaks a protocol."""


class ProviderRegistry:
    """Opens providers on demand. One registry serves one event loop; `close` ends its connections."""

    def __init__(self, settings: ProviderSettings, environ: Mapping[str, str] = os.environ) -> None:
        """``environ`` is where keys are looked for, each time a provider is opened."""
        self._settings = settings
        self._environ = environ
        self._opened: dict[str, Adapter] = {}
        self._makers: dict[str, Makers] = {}
        self._played: dict[str, ScriptedProvider] = {}

    def open(self, model: str) -> Provider:
        """The provider of ``model`` (``provider:model``).

        Raises UnknownModelError when no provider has that name, KeyMissingError when it needs a key that is not set.
        """
        name, rest = _named(model)
        if name == "demo":
            return DemoProvider()
        if name == "scripted":
            return self._script(rest)
        service = self._service(name, model)
        if name not in self._opened:
            self._opened[name] = ADAPTERS[service.endpoint.protocol](service)
        return self._opened[name]

    def makers(self, model: str) -> Makers:
        """Who makes embeddings, images and the like at the provider of ``model``.

        Raises UnknownModelError and KeyMissingError as `open` does, and UnsupportedCapabilityError for models that only
        play.
        """
        name, _ = _named(model)
        if name in _PLAYED:
            raise UnsupportedCapabilityError(model, "all but conversation", ())
        service = self._service(name, model)
        if name not in self._makers:
            self._makers[name] = Makers(service)
        return self._makers[name]

    def way(self, request: ModelRequest) -> Way:
        """The best way to an object that fits the request's schema; models that play write it as text."""
        name, _ = _named(request.model)
        if name in _PLAYED:
            return "text"
        return Admission(self._service(name, request.model)).way(request)

    def check_hosted(self, model: str, hosted: tuple[HostedTool, ...]) -> None:
        """Check that ``model`` has these tools of its provider; a key is not needed for that.

        Raises UnknownModelError when no provider has that name, UnsupportedCapabilityError for a tool that it lacks.
        """
        name, _ = _named(model)
        if name not in _PLAYED:
            Admission(self._keyless(name, model)).check_hosted(model, hosted)

    async def close(self) -> None:
        """End every connection. The registry may be used again afterwards."""
        opened: tuple[Adapter | Makers, ...] = (*self._opened.values(), *self._makers.values())
        self._opened, self._makers = {}, {}
        async with AsyncExitStack() as stack:
            for each in opened:
                stack.push_async_callback(each.close)

    def _service(self, name: str, model: str) -> Service:
        service = self._keyless(name, model)
        variable = service.endpoint.key_variable
        key = service.endpoint.key(self._environ)
        if variable and not key:
            raise KeyMissingError(name, variable)
        return replace(service, key=key)

    def _keyless(self, name: str, model: str) -> Service:
        endpoint = self._settings.endpoint(name)
        if endpoint is None:
            known = ", ".join((*self._settings.names(), *_PLAYED))
            raise UnknownModelError(f"There is no provider {name!r} for the model {model!r}. Known providers: {known}.")
        return Service(name, endpoint, settings=self._settings, environ=self._environ)

    def _script(self, path: str) -> ScriptedProvider:
        if path not in self._played:
            self._played[path] = ScriptedProvider(Script.load(path))
        return self._played[path]


def _named(model: str) -> tuple[str, str]:
    name, colon, rest = model.partition(":")
    if not colon or not rest:
        raise UnknownModelError(f"A model is named provider:model, such as openai:gpt-5-mini, not {model!r}.")
    return name, rest
