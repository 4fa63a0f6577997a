"""The providers that are known without settings, and the settings that add to them or change them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, JsonValue, ValidationError, model_validator

from perdure.contracts.record import FileRecord
from perdure.contracts.urls import url_fault
from perdure.providers.capabilities import read_capabilities
from perdure.providers.dialects import DIALECTS, Dialect
from perdure.providers.own_prices import Price

WireProtocol = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]
"""The protocols that there is an adapter for."""


def check_base_url(url: str) -> str:
    """The address. Raises ValueError for one that cannot be used, or that holds a credential."""
    if fault := url_fault(url):
        raise ValueError(f"base_url {fault}")
    return url


def check_variable(name: str) -> str:
    """The name of an environment variable, or "". Raises ValueError, which does not repeat it: it may be a key."""
    if name and not re.fullmatch("[A-Z_][A-Z0-9_]*", name):
        raise ValueError(
            "that is no name of an environment variable, such as CORP_KEY; the key is the variable's value"
        )
    return name


def check_header(name: str) -> str:
    """The name of an HTTP header. Raises ValueError."""
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
        raise ValueError("that is no name of an HTTP header, such as x-api-key")
    return name


VariableName = Annotated[str, AfterValidator(check_variable)]


class Endpoint(FileRecord):
    """Where a provider's models are served. A new compatible server is one of these in the settings, not code.

    ``base_url`` ends before the protocol's own path, such as ``/chat/completions``; ``protocol`` is what is spoken
    there. ``key_variable`` names the environment variable that holds the key; empty means that none is sent.
    ``key_header`` is the header that it goes into (``api-key`` at Azure). ``dialect`` names a row of `DIALECTS`, and
    ``flags`` change single flags of it. ``default_model`` is what is chosen when only the key is there.
    """

    # An address that is refused for the password in it must not be quoted in the refusal.
    model_config = ConfigDict(hide_input_in_errors=True)

    base_url: Annotated[str, AfterValidator(check_base_url)]
    protocol: WireProtocol = "openai-chat"
    key_variable: VariableName = ""
    key_header: Annotated[str, AfterValidator(check_header)] = "authorization"
    dialect: str = "compatible"
    flags: dict[str, JsonValue] = {}
    default_model: str = ""

    @model_validator(mode="after")
    def _known(self) -> Endpoint:
        if self.dialect not in DIALECTS:
            raise ValueError(f"there is no dialect {self.dialect!r}; known: {', '.join(DIALECTS)}")
        try:
            self.spoken()
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            flag = str(first["loc"][0])
            if flag not in Dialect.model_fields:
                known = ", ".join(Dialect.model_fields)
                raise ValueError(f"there is no flag {flag!r}; known: {known}") from None
            raise ValueError(f"flags.{flag}: expected {values_of(Dialect.model_fields[flag].annotation)}") from None
        return self

    def key(self, environ: Mapping[str, str]) -> str:
        """The key in ``environ``; "" when there is none, or none is needed."""
        return environ.get(self.key_variable, "").strip() if self.key_variable else ""

    def spoken(self) -> Dialect:
        """The dialect with the flags laid over it."""
        return Dialect.model_validate({**DIALECTS[self.dialect].model_dump(), **self.flags})


def values_of(annotation: Any) -> str:
    """What a field of an endpoint or a dialect may hold, in words."""
    if get_origin(annotation) is Literal:
        return " or ".join(map(str, get_args(annotation)))
    simple = {bool: "true or false", int: "a whole number", str: "text", dict: "a table"}
    return simple.get(get_origin(annotation) or annotation) or " or ".join(map(values_of, get_args(annotation)))


def _known(base_url: str, key_variable: str = "", default_model: str = "", **more: Any) -> Endpoint:
    return Endpoint(base_url=base_url, key_variable=key_variable, default_model=default_model, **more)


_OPENAI = ("https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5-mini")

CATALOGUE: Mapping[str, Endpoint] = MappingProxyType(
    {
        "anthropic": _known(
            "https://api.anthropic.com/v1",
            "ANTHROPIC_API_KEY",
            "claude-sonnet-4-5",
            protocol="anthropic",
            dialect="anthropic",
            key_header="x-api-key",
        ),
        "openai": _known(*_OPENAI, dialect="openai"),
        "openai-responses": _known(*_OPENAI, dialect="openai", protocol="openai-responses"),
        "gemini": _known(
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
            "gemini-2.5-flash",
            protocol="gemini",
            dialect="gemini",
            key_header="x-goog-api-key",
        ),
        "openrouter": _known(
            "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter/auto", dialect="openrouter"
        ),
        "deepseek": _known("https://api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-chat", dialect="deepseek"),
        "mistral": _known("https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-medium-latest", dialect="mistral"),
        "groq": _known("https://api.groq.com/openai/v1", "GROQ_API_KEY", "openai/gpt-oss-120b", dialect="groq"),
        "xai": _known("https://api.x.ai/v1", "XAI_API_KEY", "grok-4", dialect="xai"),
        "cerebras": _known("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "gpt-oss-120b", dialect="cerebras"),
        "together": _known("https://api.together.xyz/v1", "TOGETHER_API_KEY", "openai/gpt-oss-120b"),
        "fireworks": _known(
            "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "accounts/fireworks/models/gpt-oss-120b"
        ),
        "moonshot": _known(
            "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "kimi-k2-0905-preview", dialect="moonshot"
        ),
        "zai": _known("https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "glm-4.6", dialect="zai"),
        "huggingface": _known("https://router.huggingface.co/v1", "HF_TOKEN", "openai/gpt-oss-120b"),
        "ollama": _known("http://localhost:11434/v1", dialect="ollama"),
        "lmstudio": _known("http://localhost:1234/v1", dialect="lmstudio"),
        "llamacpp": _known("http://localhost:8080/v1", dialect="llamacpp"),
        "vllm": _known("http://localhost:8000/v1", dialect="vllm"),
    }
)
"""Providers by name. The order is the order in which a key in the environment is looked for, then a local server."""

LOCAL_PROVIDERS = ("ollama", "lmstudio", "llamacpp", "vllm")


def lay_over(tables: Any) -> Any:
    """Tables of providers, each laid over what is known of a provider of that name: what it does not name stays.

    The variable of the key does not stay for another address: a key goes to its vendor, or where it is named for.
    """
    if not isinstance(tables, dict):
        return tables
    return {name: _laid_over(CATALOGUE.get(name), table) for name, table in tables.items()}


def _laid_over(known: Endpoint | None, table: Any) -> Any:
    if known is None or not isinstance(table, dict):
        return table
    moved = _server(str(table.get("base_url", known.base_url))) != _server(known.base_url)
    return {**known.model_dump(exclude={"key_variable"} if moved else None), **table}


def _server(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.scheme, parts.netloc.lower()


def check_words(words: str) -> str:
    """A row of capabilities. Raises ValueError for a word that is none."""
    read_capabilities(words)
    return words


Words = Annotated[str, AfterValidator(check_words)]


class ProviderSettings(FileRecord):
    """What the settings say about providers.

    ``endpoints`` adds providers by name, or replaces known ones. ``read_timeout`` is the longest silence (seconds)
    between two pieces of an answer: models that think are silent for minutes. ``capabilities`` says what models have
    and lack, pattern to words, and comes before our own table. ``prices`` come before the price list. ``mcp_keys``
    names, by a hosted MCP server's address, the variable that holds its key: only there it is sent.
    """

    endpoints: dict[str, Endpoint] = {}
    capabilities: dict[str, Words] = {}
    prices: dict[str, Price] = {}
    mcp_keys: dict[str, VariableName] = {}
    connect_timeout: float = 10.0
    read_timeout: float = 600.0

    def endpoint(self, name: str) -> Endpoint | None:
        """The endpoint of the provider ``name``, or None."""
        return self.endpoints.get(name) or CATALOGUE.get(name)

    def withheld(self, name: str) -> str:
        """The variable whose key the provider ``name`` would get at its vendor's own address, and does not get at the
        one that the settings say, since they name no variable; "" when there is none."""
        own, known = self.endpoints.get(name), CATALOGUE.get(name)
        return known.key_variable if own and known and "key_variable" not in own.model_fields_set else ""

    def names(self) -> tuple[str, ...]:
        """Every provider's name, the settings' own first."""
        return tuple(dict.fromkeys((*self.endpoints, *CATALOGUE)))
