"""Tools that a provider runs by itself, as each protocol declares them. What a protocol lacks never comes here."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.contracts.tools import HostedTool
from perdure.providers.dialects import Dialect
from perdure.providers.lenient import Json

Keys = Mapping[str, str]
"""The keys of MCP servers, by their addresses."""

ANTHROPIC_BETAS = {"code_execution": "code-execution-2025-08-25", "mcp": "mcp-client-2025-11-20"}
"""What a request has to ask for in its header ``anthropic-beta``."""


def for_chat(hosted: tuple[HostedTool, ...], dialect: Dialect) -> tuple[Json, list[Json]]:
    """Fields of the request, and entries of its ``tools``: searching the web is all that this protocol has."""
    search = next((tool for tool in hosted if tool.tool == "web_search"), None)
    if search is None:
        return {}, []
    if dialect.web_search == "options":
        return {"web_search_options": {}}, []
    bounds: Json = {"parameters": {"max_uses": search.max_uses}} if search.max_uses else {}
    return {}, [{"type": "openrouter:web_search", **bounds}]


def for_responses(tool: HostedTool, keys: Keys) -> Json:
    """An entry of ``tools`` in OpenAI's Responses protocol."""
    match tool.tool:
        case "web_search":
            filters: Json = {"filters": {"allowed_domains": [*tool.allowed_domains]}} if tool.allowed_domains else {}
            return {"type": "web_search", **filters}
        case "code_execution":
            return {"type": "code_interpreter", "container": {"type": "auto"}}
        case "mcp":
            return {
                "type": "mcp",
                "server_label": tool.server,
                "server_url": tool.url,
                "require_approval": "never",
                **({"allowed_tools": [*tool.allowed_tools]} if tool.allowed_tools else {}),
                **({"authorization": keys[tool.url]} if tool.url in keys else {}),
            }


def for_anthropic(tool: HostedTool) -> Json:
    """An entry of ``tools`` in Anthropic's protocol."""
    match tool.tool:
        case "web_search":
            return {
                "type": "web_search_20250305",
                "name": "web_search",
                **({"max_uses": tool.max_uses} if tool.max_uses else {}),
                **({"allowed_domains": [*tool.allowed_domains]} if tool.allowed_domains else {}),
                **({"blocked_domains": [*tool.blocked_domains]} if tool.blocked_domains else {}),
            }
        case "code_execution":
            return {"type": "code_execution_20250825", "name": "code_execution"}
        case "mcp":
            chosen: Json = {name: {"enabled": True} for name in tool.allowed_tools}
            only: Json = {"default_config": {"enabled": False}, "configs": chosen} if chosen else {}
            return {"type": "mcp_toolset", "mcp_server_name": tool.server, **only}


def anthropic_servers(hosted: tuple[HostedTool, ...], keys: Keys) -> list[Json]:
    """The MCP servers of a request in Anthropic's protocol."""
    return [
        {
            "type": "url",
            "name": tool.server,
            "url": tool.url,
            **({"authorization_token": keys[tool.url]} if tool.url in keys else {}),
        }
        for tool in hosted
        if tool.tool == "mcp"
    ]


def anthropic_betas(hosted: tuple[HostedTool, ...]) -> dict[str, str]:
    """The header that a request needs for these tools, if any."""
    betas = dict.fromkeys(beta for tool in hosted if (beta := ANTHROPIC_BETAS.get(tool.tool)))
    return {"anthropic-beta": ",".join(betas)} if betas else {}


def for_gemini(tool: HostedTool) -> Json:
    """An entry of ``tools`` in Gemini's protocol."""
    return {"googleSearch": {}} if tool.tool == "web_search" else {"codeExecution": {}}
