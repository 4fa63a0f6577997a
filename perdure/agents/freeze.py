"""Freezing an agent: what a run uses from its start to its end, whatever happens to the file or the worker's tools."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue

from perdure.agents.hosted import check_hosted, is_hosted_name
from perdure.agents.policies import misfit
from perdure.contracts.agent import AgentSpec, FrozenAgent, Limits, Purpose, ToolPolicy
from perdure.contracts.digests import digest_of
from perdure.contracts.errors import InvalidInputError, UnknownToolError
from perdure.contracts.schemas import schema_fault
from perdure.contracts.tools import ToolSpec


def freeze(
    spec: AgentSpec,
    served_tools: tuple[ToolSpec, ...],
    model: str,
    limits: Limits | None = None,
    workspace: str = ".",
    house_policy: tuple[ToolPolicy, ...] = (),
    output: dict[str, JsonValue] | None = None,
    fallbacks: tuple[str, ...] | None = None,
    models: Mapping[Purpose, str] | None = None,
) -> FrozenAgent:
    """``spec`` as one run keeps it, with every served tool written out, and a digest over all of it.

    The scope says which of the tools the agent may call: without one it may call all, and those outside are kept so
    that authority can tell a tool that is out of scope from one that nobody knows. ``limits``, ``fallbacks`` and
    ``models`` replace the agent's own when given. ``house_policy`` is the worker's own policy, ``output`` a schema in
    place of the agent's. Raises `UnknownToolError` when the scope or the policy names a tool that is not served (a
    policy for a misspelt name would silently not hold), and `InvalidInputError` for a rule that could never do what it
    says, a hosted tool that the agent may not have, or a schema that no output can be held to.
    """
    served = {tool.name: tool for tool in served_tools}
    declared = {tool.name for tool in spec.hosted}
    _check(f"The agent {spec.name!r}", "tools", (name for name in spec.tools or () if name not in declared), served)
    check_hosted(spec, house_policy, served_tools)
    check_policy(f"The agent {spec.name!r}", spec.policy, served_tools)
    schema = output or spec.output
    if schema is not None and (fault := schema_fault(schema)):
        raise InvalidInputError(str(fault))
    scope = None if spec.tools is None else tuple(dict.fromkeys(spec.tools))
    frozen = FrozenAgent(
        name=spec.name,
        prompt=spec.prompt,
        model=model,
        fallbacks=tuple(
            name for name in dict.fromkeys((spec.fallbacks or ()) if fallbacks is None else fallbacks) if name != model
        ),
        models=dict(spec.models if models is None else models),
        tools=served_tools,
        hosted=spec.hosted,
        scope=scope,
        policy=spec.policy,
        house_policy=house_policy,
        waiting=spec.waiting,
        limits=limits or spec.limits,
        output=schema,
        workspace=workspace,
    )
    return frozen.model_copy(update={"digest": agent_digest(frozen)})


def agent_digest(agent: FrozenAgent) -> str:
    """The digest of a frozen agent, over everything but the digest itself."""
    return digest_of(agent.model_dump(mode="json", exclude={"digest"}))


def check_policy(whose: str, policy: tuple[ToolPolicy, ...], served_tools: tuple[ToolSpec, ...]) -> None:
    """Check that each rule can do what it says, and that the tools that it names are served.

    A pattern speaks of whatever tools there are, so it may fit none. ``whose`` begins the sentence of an error. Raises
    `UnknownToolError` and `InvalidInputError`.
    """
    served = {tool.name: tool for tool in served_tools}
    _check(whose, "policy", _named(policy), served)
    for rule in policy:
        if fault := misfit(rule):
            raise InvalidInputError(f"{whose} has a rule for {rule.tool!r} under 'policy' that {fault}.")


def _named(policy: tuple[ToolPolicy, ...]) -> Iterator[str]:
    return (rule.tool for rule in policy if "*" not in rule.tool and not is_hosted_name(rule.tool))


def _check(whose: str, key: str, names: Iterable[str], served: dict[str, ToolSpec]) -> None:
    for name in names:
        if name not in served:
            near = difflib.get_close_matches(name, served, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise UnknownToolError(
                f"{whose} names the tool {name!r} under {key!r}, which this worker does not serve. "
                f"{hint}Served tools: {', '.join(served) or 'none'}."
            )
