"""Addresses that configuration names: what keeps one from being used, and that none of them holds a credential.

They stand in logs, in agent files and in histories. So what is said of a wrong one never repeats it.
"""

from __future__ import annotations

from urllib.parse import urlsplit


def unusable(url: str) -> str:
    """Why nothing can be sent to ``url``, as "must …"; empty when something can."""
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        port = parts.port
        (parts.hostname or "").encode("idna")
    except ValueError:
        return "must have a host that can be and a port from 1 to 65535"
    if not whole or not url.isprintable() or " " in url:
        return "must be a whole address that starts with http:// or https://"
    return "must have a port from 1 to 65535" if port == 0 else ""


def url_fault(url: str) -> str:
    """Why ``url`` is no address for all to see, as "must …"; empty when it is one."""
    if fault := unusable(url):
        return fault
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        return "must hold neither a user nor a query: addresses are logged, keys go in variables"
    return ""
