"""Tools that a provider runs by itself: whether an agent may have them, which is settled before anything is sent.

Nobody can be asked about their single calls: they happen while the model answers. So an agent that declares one stands
by it, and what scope and policy say of its name holds once, when the agent is resolved: whatever is not plainly allowed
is refused there.
"""

from __future__ import annotations

import re

from perdure.contracts.agent import AgentSpec, ToolPolicy
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.tools import HostedTool, ToolSpec
from perdure.contracts.urls import url_fault

_OPTIONS = {
    "web_search": frozenset({"allowed_domains", "blocked_domains", "max_uses"}),
    "code_execution": frozenset[str](),
    "mcp": frozenset({"server", "url", "allowed_tools"}),
}
_SERVER = re.compile(r"[\w-]{1,64}")
_NAME = re.compile(r"web_search|code_execution|mcp:[\w-]{1,64}")


def is_hosted_name(name: str) -> bool:
    """Whether scope and policy may mean a provider's own tool by ``name``."""
    return _NAME.fullmatch(name) is not None


def hosted_fault(tool: HostedTool) -> str:
    """What is wrong with what is said of a hosted tool, or nothing."""
    if strange := [option for option in tool.given if option not in _OPTIONS[tool.tool]]:
        return f"{tool.tool} has no {', '.join(strange)}"
    if tool.tool == "mcp" and not (_SERVER.fullmatch(tool.server) and tool.url.startswith("https://")):
        return "mcp needs a server (its name: letters, digits, _ and -) and a url that starts with https://"
    if tool.tool == "mcp" and (fault := url_fault(tool.url)):
        return f"url {fault}"
    if tool.allowed_domains and tool.blocked_domains:
        return "web_search takes allowed_domains or blocked_domains, not both"
    if tool.max_uses is not None and tool.max_uses < 1:
        return "max_uses is 1 or more"
    return ""


def check_hosted(spec: AgentSpec, house_policy: tuple[ToolPolicy, ...], served_tools: tuple[ToolSpec, ...]) -> None:
    """Check that the agent may have the hosted tools that it declares.

    Raises `InvalidInputError` for one that is declared wrongly or twice, that is not in the agent's ``tools`` where it
    has such a list, that is not plainly allowed by a policy that speaks of it, or that has the name of a served tool.
    """
    served = {tool.name for tool in served_tools}
    seen: set[str] = set()
    for tool in spec.hosted:
        whose = f"The agent {spec.name!r} declares {tool.name!r} under 'hosted'"
        if fault := hosted_fault(tool):
            raise InvalidInputError(f"{whose}, and {fault}.")
        if tool.name in seen:
            raise InvalidInputError(f"{whose} twice.")
        seen.add(tool.name)
        if tool.name in served:
            raise InvalidInputError(f"{whose}, but this worker serves a tool of that name, and it is one or the other.")
        if spec.tools is not None and tool.name not in spec.tools:
            raise InvalidInputError(f"{whose}, but not under 'tools', which bounds what it may use. Add it there.")
        for name, policy in (("policy", spec.policy), ("the house policy", house_policy)):
            if word := _refusing(tool.name, policy):
                raise InvalidInputError(
                    f"{whose}, but {name} says {word} of it. The provider runs it unasked, so it must be allowed."
                )


def _refusing(name: str, policy: tuple[ToolPolicy, ...]) -> str:
    """What the first rule for ``name`` says, unless that is a plain allow or there is none.

    A rule for some arguments only refuses as well: the arguments are not known beforehand.
    """
    for rule in policy:
        if re.fullmatch(".*".join(map(re.escape, rule.tool.split("*"))), name):
            plain = rule.word == "allow" and not rule.when and not rule.resolver
            return (
                "" if plain else rule.word if not (rule.when or rule.resolver) else "something that depends on a call"
            )
    return ""
