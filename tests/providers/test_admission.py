from __future__ import annotations

from typing import Any

import httpx
import pytest

from perdure.contracts.errors import KeyMissingError, UnsupportedCapabilityError
from perdure.contracts.messages import AudioPart, FilePart, ImagePart, UserMessage, UserPart
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import HostedTool, ToolSpec
from perdure.providers.admission import Admission
from perdure.providers.catalogue import CATALOGUE, ProviderSettings
from tests.providers.protocols import PROTOCOLS, Spoken
from tests.providers.serving import service, user

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
READ = ToolSpec(name="read")
SEARCH = HostedTool(tool="web_search")
WIKI = HostedTool(tool="mcp", server="wiki", url="https://wiki.example/mcp")


def admission(model: str, settings: ProviderSettings | None = None, **environ: str) -> Admission:
    return Admission(service(model.partition(":")[0], settings=settings, environ=environ))


def admitted(model: str, settings: ProviderSettings | None = None, **fields: Any) -> ModelRequest:
    request = ModelRequest(model=model, **{"messages": (user("Hi"),), **fields})
    return admission(model, settings).admit(request)


def refused(model: str, settings: ProviderSettings | None = None, **fields: Any) -> str:
    with pytest.raises(UnsupportedCapabilityError) as caught:
        admitted(model, settings, **fields)
    assert caught.value.failure().kind == "unsupported"
    return str(caught.value)


def holding(part: UserPart) -> dict[str, Any]:
    return {"messages": (UserMessage(message_id="u1", parts=(part,)),)}


@pytest.mark.parametrize(
    ("part", "lack"),
    [
        (ImagePart(data=b"x"), "images as input"),
        (AudioPart(data=b"x"), "audio as input"),
        (FilePart(media_type="application/pdf", data=b"x"), "files as input"),
        (FilePart(media_type="text/plain", url="https://example.com/a.txt"), "files as input"),
    ],
)
def test_a_part_that_the_model_cannot_take_is_refused_by_name(part: UserPart, lack: str) -> None:
    said = refused("deepseek:deepseek-chat", **holding(part))
    assert said.startswith(f"The model deepseek:deepseek-chat lacks {lack}. A message holds ")
    assert "These have it: " in said


def test_text_files_are_text_to_every_model() -> None:
    admitted("deepseek:deepseek-chat", **holding(FilePart(media_type="text/csv", data=b"a,b")))


def test_tools_for_a_model_without_tools_are_refused_with_what_to_do() -> None:
    said = refused("openai:o1-mini", tools=(READ,))
    assert "openai:o1-mini lacks tools. Give the agent `tools: []`, or another model. These have it: " in said


def test_a_model_that_does_not_converse_is_not_asked_to() -> None:
    assert "lacks conversation" in refused("openai:text-embedding-3-small")


def test_models_of_configured_providers_are_named_first() -> None:
    settings = ProviderSettings(capabilities={"corp:*": "audio"})
    model, part = "deepseek:deepseek-chat", AudioPart(data=b"x")
    request = ModelRequest(model=model, **holding(part))
    with pytest.raises(UnsupportedCapabilityError) as caught:
        admission(model, settings, GEMINI_API_KEY="x").admit(request)
    assert "These have it: gemini:gemini-1.*, gemini:gemini-2.*, gemini:gemini-*." in str(caught.value)
    with pytest.raises(UnsupportedCapabilityError) as caught:
        admission(model, settings).admit(request)
    assert "These have it: corp:*, openai:gpt-*audio*" in str(caught.value)


def test_what_nobody_has_said_is_sent() -> None:
    everything = UserMessage(message_id="u1", parts=(ImagePart(data=b"x"), AudioPart(data=b"x"), FilePart(data=b"x")))
    request = admitted("openrouter:own/model", messages=(everything,), tools=(READ,), temperature=0.5)
    assert request.tools == (READ,)
    assert request.temperature == 0.5


def test_settings_say_otherwise() -> None:
    images = ProviderSettings(capabilities={"deepseek:*": "images"})
    admitted("deepseek:deepseek-vl", images, **holding(ImagePart(data=b"x")))
    no_tools = ProviderSettings(capabilities={"llamacpp:*": "-tools"})
    assert "lacks tools" in refused("llamacpp:smollm2", no_tools, tools=(READ,))


def test_a_temperature_that_the_model_does_not_take_is_left_out() -> None:
    assert admitted("openai:gpt-5-mini", temperature=0.5).temperature is None
    assert admitted("openai:gpt-4o", temperature=0.5).temperature == 0.5


@pytest.mark.parametrize(
    ("model", "fields", "native"),
    [
        ("openai:gpt-5-mini", {}, True),
        ("openai:gpt-5-mini", {"tools": (READ,)}, True),
        ("openai:gpt-3.5-turbo", {}, False),
        ("openai:gpt-5-mini", {"output_schema": {"type": "array"}}, False),
        ("openai-responses:gpt-5-mini", {}, True),
        ("anthropic:claude-sonnet-4-5", {"tools": (READ,)}, True),
        ("anthropic:claude-sonnet-4-5", {"output_schema": {"type": "object"}}, False),
        ("anthropic:claude-3-haiku-20240307", {}, False),
        ("gemini:gemini-2.5-flash", {}, True),
        ("gemini:gemini-2.5-flash", {"tools": (READ,)}, False),
        ("gemini:gemini-2.5-flash", {"hosted": (SEARCH,)}, False),
        ("gemini:gemini-3-pro", {"tools": (READ,)}, True),
        ("llamacpp:x", {}, True),
        ("llamacpp:x", {"tools": (READ,)}, False),
        ("openrouter:x", {}, False),
    ],
)
def test_a_schema_goes_only_where_the_model_can_be_held_to_it(model: str, fields: dict[str, Any], native: bool) -> None:
    given = {"output_schema": CLOSED, **fields}
    assert (admitted(model, **given).output_schema is not None) == native


def test_llama_cpp_takes_a_schema_in_the_chat_protocol_alone() -> None:
    request = ModelRequest(model="llamacpp:x", output_schema=CLOSED)
    assert Admission(service("llamacpp", protocol="openai-responses")).admit(request).output_schema is None


def test_reasoning_is_not_asked_of_a_model_that_has_none() -> None:
    made = Admission(service("anthropic", flags={"thinking": 2048}))
    assert made.dialect("anthropic:claude-sonnet-4-5").thinking == 2048
    assert made.dialect("anthropic:claude-3-haiku-20240307").thinking == 0


@pytest.mark.parametrize("model", ["openai:gpt-5-mini", "llamacpp:x", "deepseek:deepseek-chat"])
def test_a_hosted_tool_that_the_provider_does_not_run_is_refused(model: str) -> None:
    assert "lacks web_search by its provider" in refused(model, hosted=(SEARCH,))


def test_hosted_tools_of_models_that_nobody_knows_are_refused_too() -> None:
    made = Admission(service(settings=ProviderSettings(endpoints={"corp": CATALOGUE["anthropic"]}), name="corp"))
    with pytest.raises(UnsupportedCapabilityError):
        made.admit(ModelRequest(model="corp:claude", hosted=(SEARCH,)))


def test_hosted_tools_beside_ours_are_refused_where_they_exclude_each_other() -> None:
    said = refused("gemini:gemini-2.5-flash", hosted=(SEARCH,), tools=(READ,))
    assert "lacks tools of its provider beside tools of ours. Give the agent `tools: []`, or no `hosted`." in said
    assert admitted("gemini:gemini-3-pro", hosted=(SEARCH,), tools=(READ,)).hosted == (SEARCH,)


@pytest.mark.parametrize(
    ("model", "tool", "bound"),
    [
        ("gemini:gemini-3-pro", HostedTool(tool="web_search", allowed_domains=("a",)), "allowed_domains of web_search"),
        ("openai-responses:gpt-5", HostedTool(tool="web_search", max_uses=2), "max_uses of web_search"),
        ("openrouter:x", HostedTool(tool="web_search", blocked_domains=("a",)), "blocked_domains of web_search"),
    ],
)
def test_a_bound_that_the_provider_has_no_word_for_is_never_left_out(model: str, tool: HostedTool, bound: str) -> None:
    assert f"lacks {bound}" in refused(model, hosted=(tool,))


def test_the_key_of_an_mcp_server_goes_to_the_address_that_the_settings_name_alone() -> None:
    settings = ProviderSettings(mcp_keys={WIKI.url: "WIKI_KEY"})
    made = admission("anthropic:claude-sonnet-4-5", settings, WIKI_KEY="secret", OTHER="x")
    assert made.server_keys((WIKI,)) == {WIKI.url: "secret"}
    elsewhere = WIKI.model_copy(update={"url": "https://evil.example/mcp"})
    assert made.server_keys((elsewhere,)) == {}
    with pytest.raises(KeyMissingError, match="WIKI_KEY"):
        admission("anthropic:x", settings).server_keys((WIKI,))


@pytest.mark.parametrize("spoken", PROTOCOLS.values(), ids=PROTOCOLS)
async def test_nothing_is_sent_of_a_request_that_is_refused(spoken: Spoken) -> None:
    def unreachable(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"sent to {request.url}")

    settings = ProviderSettings(capabilities={spoken.model: "-images"})
    request = ModelRequest(model=spoken.model, **holding(ImagePart(data=b"x")))
    with pytest.raises(UnsupportedCapabilityError, match="lacks images"):
        await spoken.answer(unreachable, request, settings=settings)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("chat", ("response_format", "json_schema", "schema")),
        ("responses", ("text", "format", "schema")),
        ("anthropic", ("output_config", "format", "schema")),
        ("gemini", ("generationConfig", "responseJsonSchema")),
    ],
)
async def test_each_protocol_holds_the_answer_to_the_schema_in_its_own_place(name: str, where: tuple[str, ...]) -> None:
    spoken = PROTOCOLS[name]
    request = ModelRequest(model=spoken.model, messages=(user("Hi"),), output_schema=CLOSED, tools=(READ,))
    found: Any = await spoken.sent(request)
    for key in where:
        found = found[key]
    assert found == CLOSED
