"""Freezing an agent: what a run uses from its start to its end, whatever happens to the file or the worker's tools."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from perdure.contracts.agent import AgentSpec, FrozenAgent, Limits
from perdure.contracts.digests import digest_of
from perdure.contracts.errors import UnknownToolError
from perdure.contracts.tools import ToolSpec


def freeze(
    spec: AgentSpec,
    served_tools: tuple[ToolSpec, ...],
    model: str,
    limits: Limits | None = None,
    workspace: str = ".",
) -> FrozenAgent:
    """``spec`` as one run keeps it, with every served tool written out, and a digest over all of it.

    The scope says which of the tools the agent may call: without one it may call all, and those outside are kept so
    that authority can tell a tool that is out of scope from one that nobody knows. ``limits`` replaces the agent's own
    when given. Raises `UnknownToolError` when the scope or the policy names a tool that is not served: a policy for a
    misspelt name would silently not hold.
    """
    served = {tool.name: tool for tool in served_tools}
    _check(spec.name, "tools", spec.tools or (), served)
    _check(spec.name, "policy", (policy.tool for policy in spec.policy), served)
    scope = None if spec.tools is None else tuple(dict.fromkeys(spec.tools))
    frozen = FrozenAgent(
        name=spec.name,
        prompt=spec.prompt,
        model=model,
        tools=served_tools,
        scope=scope,
        policy=spec.policy,
        limits=limits or spec.limits,
        workspace=workspace,
    )
    return frozen.model_copy(update={"digest": agent_digest(frozen)})


def agent_digest(agent: FrozenAgent) -> str:
    """The digest of a frozen agent, over everything but the digest itself."""
    return digest_of(agent.model_dump(mode="json", exclude={"digest"}))


def _check(agent: str, key: str, names: Iterable[str], served: dict[str, ToolSpec]) -> None:
    for name in names:
        if name not in served:
            near = difflib.get_close_matches(name, served, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise UnknownToolError(
                f"The agent {agent!r} names the tool {name!r} under {key!r}, which this worker does not serve. "
                f"{hint}Served tools: {', '.join(served) or 'none'}."
            )
