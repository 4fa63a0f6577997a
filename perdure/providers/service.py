"""One provider as it is used: where it is, the key for it, and what settings and environment say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import urlsplit

import httpx

from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.http import Http


@dataclass(frozen=True, slots=True)
class Service:
    """What adapters and makers need to know of the provider ``name`` (as in ``provider:model``).

    ``key`` is sent in the endpoint's header, if there is any. ``environ`` says which providers are configured, and
    holds the keys of MCP servers.
    """

    name: str
    endpoint: Endpoint
    key: str = field(default="", repr=False)
    settings: ProviderSettings = field(default_factory=ProviderSettings)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    transport: httpx.AsyncBaseTransport | None = None

    @property
    def origin(self) -> str:
        """What opaque data is marked with that may go back here and nowhere else."""
        return f"{self.endpoint.protocol}:{urlsplit(self.endpoint.base_url).hostname}"

    @property
    def key_told(self) -> str:
        """What a person needs to know whose key was refused: where it came from, or why none was sent."""
        if self.key:
            return f"The key is that of {self.endpoint.key_variable}."
        if variable := self.settings.withheld(self.name):
            return f"{variable} is not sent to this address; name it as key_variable."
        return f"No key was sent: name its variable as key_variable of the provider {self.name!r}."

    def connect(self, headers: Mapping[str, str] = MappingProxyType({})) -> Http:
        """HTTP to the endpoint; ``headers`` are the protocol's own, sent with every request.

        The key is a bearer token where its header is ``authorization``. Raises InvalidSettingsError as `Http` does.
        """
        header = self.endpoint.key_header
        sent = f"Bearer {self.key}" if header.lower() == "authorization" else self.key
        return Http(
            self.name,
            self.endpoint.base_url,
            {**headers, **({header: sent} if self.key else {})},
            secrets=(self.key,) if self.key else (),
            key_told=self.key_told,
            connect_timeout=self.settings.connect_timeout,
            read_timeout=self.settings.read_timeout,
            transport=self.transport,
        )
