"""What comes before every request: what the model lacks is refused by name, or adapted as said here.

Adapted, and nothing else: a temperature that the model does not take is left out, an ``output_schema`` goes only where
the model can be held to it (the prompt asks for it anyway), and reasoning is not asked of a model that has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from pydantic import JsonValue

from perdure.contracts.attachments import is_text
from perdure.contracts.errors import KeyMissingError, UnsupportedCapabilityError
from perdure.contracts.generation import Way
from perdure.contracts.messages import UserPart
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import HostedTool
from perdure.providers.capabilities import SAID, Capabilities, Capability, capabilities_of, patterns_with
from perdure.providers.catalogue import WireProtocol
from perdure.providers.dialects import Dialect
from perdure.providers.patterns import fits
from perdure.providers.schemas import for_anthropic, for_gemini, for_openai
from perdure.providers.service import Service

MOST_NAMED = 8
"""Patterns of models at most that an error names."""

_MEDIA: Mapping[str, Capability] = {"image": "images", "audio": "audio", "file": "files"}

_INSTEAD: Mapping[Capability, str] = {
    "tools": "Give the agent `tools: []`, or another model.",
    "images": "A message holds an image.",
    "audio": "A message holds audio.",
    "files": "A message holds a file.",
    "hosted_with_tools": "Give the agent `tools: []`, or no `hosted`.",
}

_BOUNDS: Mapping[WireProtocol, Mapping[str, frozenset[str]]] = {
    "openai-responses": {"web_search": frozenset({"allowed_domains"}), "mcp": frozenset({"allowed_tools"})},
    "anthropic": {
        "web_search": frozenset({"allowed_domains", "blocked_domains", "max_uses"}),
        "mcp": frozenset({"allowed_tools"}),
    },
    "openai-chat": {"web_search": frozenset({"max_uses"})},
    "gemini": {},
}
"""Which bounds of a provider's own tools a protocol has words for. One that it has none for is never left out."""


class Admission:
    """What one endpoint's models may be asked."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._endpoint = service.endpoint

    def known(self, model: str) -> Capabilities:
        """What is known of ``model``."""
        return capabilities_of(model, self._service.settings.capabilities)

    def admit(self, request: ModelRequest) -> ModelRequest:
        """``request`` as it may be sent. Raises UnsupportedCapabilityError for what the model lacks."""
        known = self.known(request.model)
        for need in _needs(request):
            if need in known.lacks:
                raise self.lacking(request.model, need)
        self.check_hosted(request.model, request.hosted)
        return request.model_copy(
            update={
                "output_schema": request.output_schema if self._holds(request, known) else None,
                "temperature": None if "temperature" in known.lacks else request.temperature,
            }
        )

    def check_hosted(self, model: str, hosted: tuple[HostedTool, ...]) -> None:
        """Check that ``model`` has these tools, as they are bounded. Raises UnsupportedCapabilityError."""
        for tool in hosted:
            self._check_hosted(model, tool)

    def way(self, request: ModelRequest) -> Way:
        """The best way to an object that fits the request's schema."""
        known = self.known(request.model)
        if self._holds(request, known):
            return "schema"
        return "tool" if "tools" in known.has else "text"

    def dialect(self, model: str) -> Dialect:
        """How the endpoint is spoken to about ``model``."""
        spoken = self._endpoint.spoken()
        return spoken.model_copy(update={"thinking": 0}) if "reasoning" in self.known(model).lacks else spoken

    def require(self, model: str, capability: Capability) -> None:
        """Raise UnsupportedCapabilityError when it is known that ``model`` lacks ``capability``."""
        if capability in self.known(model).lacks:
            raise self.lacking(model, capability)

    def lacking(self, model: str, capability: Capability) -> UnsupportedCapabilityError:
        """The error that says what ``model`` lacks, and which models have it."""
        having = having_it(capability, self._service)
        return UnsupportedCapabilityError(model, SAID[capability], having, _INSTEAD.get(capability, ""))

    def server_keys(self, hosted: tuple[HostedTool, ...]) -> dict[str, str]:
        """The key of each MCP server that the settings name one for, by its address. Raises KeyMissingError."""
        keys: dict[str, str] = {}
        for tool in hosted:
            if variable := self._service.settings.mcp_keys.get(tool.url):
                key = self._service.environ.get(variable, "").strip()
                if not key:
                    raise KeyMissingError(tool.name, variable)
                keys[tool.url] = key
        return keys

    def _check_hosted(self, model: str, tool: HostedTool) -> None:
        if tool.tool not in self.known(model).has:
            raise self.lacking(model, tool.tool)
        words = _BOUNDS[self._endpoint.protocol].get(tool.tool, frozenset()) | {"server", "url"}
        for bound in tool.given:
            if bound not in words:
                raise UnsupportedCapabilityError(
                    model, f"{bound} of {tool.name}", (), "Its provider has no such bound."
                )

    def _holds(self, request: ModelRequest, known: Capabilities) -> bool:
        """Whether the server can be made to hold the answer to the schema."""
        beside = "schema_with_tools" in known.lacks and bool(request.tools or request.hosted)
        schema = request.output_schema
        return schema is not None and "schema" in known.has and not beside and self._fits(schema)

    def _fits(self, schema: dict[str, JsonValue]) -> bool:
        match self._endpoint.protocol:
            case "openai-chat":
                return for_openai(schema) is not None
            case "openai-responses":
                # llama.cpp takes a schema here and does not hold to it.
                return self._endpoint.dialect != "llamacpp" and for_openai(schema) is not None
            case "anthropic":
                return for_anthropic(schema) is not None
            case "gemini":
                return for_gemini(schema) is not None


def having_it(
    capability: Capability, service: Service, *, protocols: tuple[WireProtocol, ...] = get_args(WireProtocol)
) -> tuple[str, ...]:
    """Models that have ``capability``, as patterns: those of configured providers, or of all when none of them has.

    ``protocols`` are those that could be spoken to get it.
    """
    settings = service.settings
    endpoints = {name: endpoint for name in settings.names() if (endpoint := settings.endpoint(name))}
    able = [name for name, endpoint in endpoints.items() if endpoint.protocol in protocols]
    patterns = [
        pattern
        for pattern in patterns_with(capability, settings.capabilities)
        if any(_is_of(pattern, name) for name in able) or not any(_is_of(pattern, name) for name in endpoints)
    ]
    ready = [name for name in able if endpoints[name].key(service.environ)]
    chosen = [pattern for pattern in patterns if any(_is_of(pattern, name) for name in ready)] or patterns
    return tuple(chosen[:MOST_NAMED])


def _is_of(pattern: str, provider: str) -> bool:
    return fits(provider, pattern.partition(":")[0])


def _needs(request: ModelRequest) -> Iterator[Capability]:
    yield "chat"
    for message in request.messages:
        for part in message.parts if message.role == "user" else ():
            if (need := _MEDIA.get(part.kind)) and not _is_plain(part):
                yield need
    if request.tools:
        yield "tools"
        if request.hosted:
            yield "hosted_with_tools"


def _is_plain(part: UserPart) -> bool:
    """Whether a part goes as text, which every model reads."""
    return part.kind == "file" and part.data is not None and is_text(part.media_type)
