"""The environment that commands get: the worker's own, without what looks like a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping

SECRET_WORDS = frozenset(
    {
        "apikey",
        "apikeys",
        "auth",
        "authorization",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "key",
        "keys",
        "keyfile",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "pat",
        "private",
        "pwd",
        "secret",
        "secrets",
        "token",
        "tokens",
        "webhook",
    }
)
"""A variable is left out when one of these is a word of its name (``OPENAI_API_KEY``, ``GithubToken``)."""

SECRET_ENDINGS = ("password", "passwd", "secret", "token", "apikey")
"""The same, where the words are written together (``PGPASSWORD``)."""

PLAIN = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK"})
"""Named like secrets and none: folders, and the socket of an agent that never shows its keys."""

SECRET_VALUE = re.compile(
    r"""
      [a-z][a-z0-9+.-]*://[^/\s@]+@                  # a URL with a user or a password in it
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY                # PEM
    | \b(sk|pk|rk)[-_][A-Za-z0-9_-]{16,}             # OpenAI, Anthropic, Stripe and those who follow them
    | \b(gh[pousr]|github_pat|glpat|xox[a-z])[-_]\w{10,}
    | \b(AKIA|ASIA)[A-Z0-9]{16}\b                    # AWS
    | \bAIza[\w-]{30,}                               # Google
    | \beyJ[\w-]{10,}\.[\w-]{10,}\.                  # JSON Web Tokens
    """,
    re.VERBOSE,
)

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """``environment`` without the variables whose name or value looks like a key, a token or another secret."""
    return {name: value for name, value in environment.items() if name in PLAIN or not _looks_secret(name, value)}


def _looks_secret(name: str, value: str) -> bool:
    words = {word.lower() for word in WORD.findall(name)}
    named = not words.isdisjoint(SECRET_WORDS) or any(word.endswith(SECRET_ENDINGS) for word in words)
    return named or SECRET_VALUE.search(value) is not None
