from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from perdure.contracts.errors import ProviderError
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import HostedTool, ToolSpec
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.dialects import DIALECTS
from perdure.providers.hosted_tools import for_chat
from tests.providers import anthropic_serving, gemini_serving, responses_serving
from tests.providers.protocols import PROTOCOLS
from tests.providers.serving import replying, user

SEARCH = HostedTool(tool="web_search", allowed_domains=("example.com",))
CODE = HostedTool(tool="code_execution")
WIKI = HostedTool(tool="mcp", server="wiki", url="https://wiki.example/mcp", allowed_tools=("read",))
KEYED = ProviderSettings(mcp_keys={WIKI.url: "WIKI_KEY"})


async def sent(
    name: str, *hosted: HostedTool, tools: tuple[ToolSpec, ...] = ()
) -> tuple[dict[str, Any], httpx.Headers]:
    """The request that a protocol's adapter sends."""
    spoken = PROTOCOLS[name]
    request = ModelRequest(model=spoken.model, messages=(user("Hi"),), hosted=hosted, tools=tools)
    posted = await spoken.posted(request, settings=KEYED, environ={"WIKI_KEY": "wk-secret"})
    return json.loads(posted.content), posted.headers


async def test_openai_gets_them_as_tools_that_never_ask() -> None:
    body, _ = await sent("responses", SEARCH, CODE, WIKI, tools=(ToolSpec(name="read"),))
    assert body["tools"][1:] == [
        {"type": "web_search", "filters": {"allowed_domains": ["example.com"]}},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {
            "type": "mcp",
            "server_label": "wiki",
            "server_url": "https://wiki.example/mcp",
            "require_approval": "never",
            "allowed_tools": ["read"],
            "authorization": "wk-secret",
        },
    ]
    assert body["tools"][0]["name"] == "read"


async def test_anthropic_gets_servers_beside_the_tools_and_the_header_that_they_need() -> None:
    bounded = HostedTool(tool="web_search", blocked_domains=("example.com",), max_uses=2)
    body, headers = await sent("anthropic", bounded, CODE, WIKI)
    search, code, wiki = body["tools"]
    assert search == {
        "type": "web_search_20250305",
        "name": "web_search",
        "max_uses": 2,
        "blocked_domains": ["example.com"],
    }
    assert code == {"type": "code_execution_20250825", "name": "code_execution"}
    assert wiki == {
        "type": "mcp_toolset",
        "mcp_server_name": "wiki",
        "default_config": {"enabled": False},
        "configs": {"read": {"enabled": True}},
        "cache_control": {"type": "ephemeral"},
    }
    assert body["mcp_servers"] == [
        {"type": "url", "name": "wiki", "url": "https://wiki.example/mcp", "authorization_token": "wk-secret"}
    ]
    assert headers["anthropic-beta"] == "code-execution-2025-08-25,mcp-client-2025-11-20"
    assert "tool_choice" not in body


async def test_gemini_is_told_that_its_tools_go_beside_ours() -> None:
    body, _ = await sent("gemini", HostedTool(tool="web_search"), CODE, tools=(ToolSpec(name="read"),))
    assert body["tools"][:2] == [{"googleSearch": {}}, {"codeExecution": {}}]
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}
    alone, _ = await sent("gemini", CODE)
    assert alone["tools"] == [{"codeExecution": {}}]
    assert "toolConfig" not in alone


def test_the_chat_protocol_searches_in_one_of_two_ways() -> None:
    search = HostedTool(tool="web_search")
    assert for_chat((search,), DIALECTS["openai"]) == ({"web_search_options": {}}, [])
    assert for_chat((search,), DIALECTS["openrouter"]) == ({}, [{"type": "openrouter:web_search"}])
    bounded = search.model_copy(update={"max_uses": 3})
    assert for_chat((bounded,), DIALECTS["openrouter"])[1][0]["parameters"] == {"max_uses": 3}
    assert for_chat((), DIALECTS["openrouter"]) == ({}, [])


@pytest.mark.parametrize("name", ["responses", "anthropic"])
async def test_an_error_that_quotes_the_key_of_an_mcp_server_does_not_tell_it(name: str) -> None:
    error = {"error": {"type": "invalid_request_error", "message": "MCP server refused wk-secret-key-1234"}}
    spoken = PROTOCOLS[name]
    request = ModelRequest(model=spoken.model, messages=(user("Hi"),), hosted=(WIKI,))
    for status in (400, 200):
        reply = replying(json.dumps(error).encode(), status=status, headers={"content-type": "application/json"})
        with pytest.raises(ProviderError) as caught:
            await spoken.answer(reply, request, settings=KEYED, environ={"WIKI_KEY": "wk-secret-key-1234"})
        assert "wk-secret" not in f"{caught.value!r} {caught.value.failure()}"
        assert "MCP server refused" in str(caught.value)


async def test_what_a_provider_ran_is_a_part_of_the_answer() -> None:
    searched = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "the sea"}}
    reply = responses_serving.events(responses_serving.completed(searched, responses_serving.message("Blue.")))
    message = await PROTOCOLS["responses"].answer(replying(reply))
    assert [(part.kind, getattr(part, "tool", ""), getattr(part, "text", "")) for part in message.parts] == [
        ("hosted", "web_search_call", "the sea"),
        ("text", "", "Blue."),
    ]
    ran = gemini_serving.events(
        gemini_serving.chunk({"executableCode": {"language": "PYTHON", "code": "1+1"}}),
        gemini_serving.chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}),
        gemini_serving.chunk(gemini_serving.text("Two."), finish="STOP"),
    )
    parts = (await PROTOCOLS["gemini"].answer(replying(ran))).parts
    assert [part.tool for part in parts if part.kind == "hosted"] == ["executableCode", "codeExecutionResult"]
    used = anthropic_serving.events(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}},
        anthropic_serving.block(
            0, {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
        ),
        anthropic_serving.block(1, {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}),
        anthropic_serving.text(2, "Blue."),
        anthropic_serving.end(),
    )
    parts = (await PROTOCOLS["anthropic"].answer(replying(used))).parts
    assert [part.tool for part in parts if part.kind == "hosted"] == ["server_tool_use", "web_search_tool_result"]
