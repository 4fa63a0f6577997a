from __future__ import annotations

from pathlib import Path

import pytest

from perdure.agents.files import Problem, examine
from perdure.agents.freeze import check_policy, freeze
from perdure.agents.hosted import hosted_fault, is_hosted_name
from perdure.contracts.agent import AgentSpec, ArgumentRule, ToolPolicy
from perdure.contracts.errors import InvalidInputError, UnknownToolError
from perdure.contracts.tools import HostedTool, ToolSpec

SERVED = (ToolSpec(name="read_file"),)
SEARCH = HostedTool(tool="web_search", allowed_domains=("example.com",))
WIKI = HostedTool(tool="mcp", server="wiki", url="https://wiki.example/mcp")


def spec(**fields: object) -> AgentSpec:
    return AgentSpec.model_validate({"name": "anna", "hosted": (SEARCH, WIKI), **fields})


def refusal(agent: AgentSpec, house: tuple[ToolPolicy, ...] = (), served: tuple[ToolSpec, ...] = SERVED) -> str:
    with pytest.raises(InvalidInputError) as caught:
        freeze(agent, served, "demo:demo", house_policy=house)
    return str(caught.value)


def test_hosted_tools_are_frozen_into_the_agent() -> None:
    assert freeze(spec(), SERVED, "demo:demo").hosted == (SEARCH, WIKI)


def test_a_list_of_tools_bounds_hosted_ones_too() -> None:
    agent = spec(tools=("read_file", "web_search"))
    assert "'mcp:wiki' under 'hosted', but not under 'tools'" in refusal(agent)
    assert freeze(spec(tools=("web_search", "mcp:wiki")), SERVED, "demo:demo").scope == ("web_search", "mcp:wiki")
    assert "'web_search' under 'hosted', but not under 'tools'" in refusal(spec(tools=()))


def test_a_hosted_tool_in_the_list_that_is_not_declared_is_unknown() -> None:
    with pytest.raises(UnknownToolError, match="web_search"):
        freeze(AgentSpec(tools=("web_search",)), SERVED, "demo:demo")


@pytest.mark.parametrize("word", ["deny", "ask", "always_ask"])
@pytest.mark.parametrize("pattern", ["web_search", "web_*", "*"])
def test_what_no_policy_allows_plainly_is_never_sent(word: str, pattern: str) -> None:
    rule = ToolPolicy.model_validate({"tool": pattern, "word": word})
    assert f"but policy says {word} of it" in refusal(spec(policy=(rule,)))
    assert f"but the house policy says {word} of it" in refusal(spec(), (rule,))


def test_the_first_rule_counts_and_one_for_some_arguments_refuses() -> None:
    allow, deny = ToolPolicy(tool="web_search", word="allow"), ToolPolicy(tool="web_*", word="deny")
    assert freeze(spec(policy=(allow, deny)), SERVED, "demo:demo").hosted
    some = ToolPolicy(tool="web_search", word="allow", when=(ArgumentRule(argument="query", value="x"),))
    assert "something that depends on a call" in refusal(spec(policy=(some, allow)))
    resolved = ToolPolicy(tool="web_search", word="allow", resolver="hours")
    assert "something that depends on a call" in refusal(spec(policy=(resolved,)))


def test_a_policy_may_speak_of_hosted_tools_that_nobody_declared() -> None:
    check_policy("The house policy", (ToolPolicy(tool="web_search", word="deny"),), SERVED)
    check_policy("The house policy", (ToolPolicy(tool="mcp:wiki", word="deny"),), SERVED)
    assert not is_hosted_name("web_serach")


def test_one_name_is_one_tool() -> None:
    assert "serves a tool of that name" in refusal(spec(), served=(ToolSpec(name="web_search"),))
    assert "twice" in refusal(spec(hosted=(SEARCH, HostedTool(tool="web_search"))))


@pytest.mark.parametrize(
    ("tool", "fault"),
    [
        (HostedTool(tool="code_execution", url="https://x"), "code_execution has no url"),
        (HostedTool(tool="web_search", server="x"), "web_search has no server"),
        (HostedTool(tool="mcp", url="https://x"), "mcp needs a server"),
        (HostedTool(tool="mcp", server="x", url="http://x"), "mcp needs a server"),
        (HostedTool(tool="mcp", server="a b", url="https://x"), "mcp needs a server"),
        (HostedTool(tool="web_search", allowed_domains=("a",), blocked_domains=("b",)), "not both"),
        (HostedTool(tool="web_search", max_uses=0), "max_uses is 1 or more"),
    ],
)
def test_what_is_declared_wrongly_is_told(tool: HostedTool, fault: str) -> None:
    assert fault in hosted_fault(tool)
    assert fault in refusal(AgentSpec(hosted=(tool,)))


def test_hosted_tools_are_read_from_the_file_with_the_place_of_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "anna.md"
    file.write_text(
        "---\nhosted:\n  - tool: web_search\n    allowed_domains: [example.com]\n"
        "  - {tool: mcp, server: wiki, url: https://wiki.example/mcp}\n---\nHi."
    )
    found = examine(file)
    assert not isinstance(found, Problem)
    assert found.spec.hosted == (SEARCH, WIKI)
    assert found.warnings == ()

    file.write_text("---\nhosted:\n  - tool: web_search\n  - {tool: mcp, server: wiki}\n---\nHi.")
    assert str(examine(file)).startswith(f"{file}:4:5: Mcp needs a server")
    file.write_text("---\nhosted:\n  - tool: web_serach\n---\nHi.")
    assert f"{file}:3:11" in str(examine(file))
    file.write_text("---\nhosted:\n  - {tool: web_search, maximum: 3}\n---\nHi.")
    assert "hosted.0.maximum" in str(examine(file))


@pytest.mark.parametrize(
    "url",
    [
        "https://user:canary@wiki.example/mcp",
        "https://wiki.example/mcp?key=canary",
        "https://wiki.example:99999/canary",
    ],
)
def test_the_address_of_a_server_holds_no_credential_and_can_be_used(url: str, tmp_path: Path) -> None:
    said = hosted_fault(HostedTool(tool="mcp", server="wiki", url=url))
    assert said.startswith("url must ")
    assert "canary" not in said
    file = tmp_path / "clerk.md"
    file.write_text(f'---\nhosted: [{{tool: mcp, server: wiki, url: "{url}"}}]\n---\nWrite.\n')
    found = examine(file)
    assert isinstance(found, Problem)
    assert "canary" not in str(found)
