"""The connection of an adapter to its endpoint: where the key goes, and how long silence may last."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from perdure.providers.catalogue import Endpoint, ProviderSettings
from perdure.providers.http import Http


def connect(
    name: str,
    endpoint: Endpoint,
    *,
    key: str = "",
    settings: ProviderSettings | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    headers: Mapping[str, str] | None = None,
) -> Http:
    """HTTP to ``endpoint`` for the provider ``name``; ``headers`` are the protocol's own, sent with every request.

    ``key`` goes into the endpoint's header, as a bearer token where that is ``authorization``. Raises
    InvalidSettingsError as `Http` does.
    """
    settings = settings or ProviderSettings()
    bearer = endpoint.key_header.lower() == "authorization"
    return Http(
        name,
        endpoint.base_url,
        {**(headers or {}), **({endpoint.key_header: f"Bearer {key}" if bearer else key} if key else {})},
        secrets=(key,) if key else (),
        connect_timeout=settings.connect_timeout,
        read_timeout=settings.read_timeout,
        transport=transport,
    )
