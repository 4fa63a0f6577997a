"""Scope: which declared tool a name means, and whether the agent may call it at all.

Tools that a server lends carry its name in front, ``server__tool`` (the separator is what every provider admits in a
tool's name). Models often drop the front: a bare name counts when exactly one tool can be meant.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from perdure.contracts.approvals import Verdict
from perdure.contracts.tools import ToolSpec

SEPARATOR = "__"
MAX_LISTED = 40
MAX_NAME = 80


def in_scope(name: str, scope: tuple[str, ...] | None) -> bool:
    """Whether the scope has the name: None has every one, an empty scope none."""
    return scope is None or name in scope


def meant(name: str, tools: Sequence[ToolSpec], scope: tuple[str, ...] | None) -> ToolSpec | None:
    """The declared tool that the name means: of that very name, else the only one whose bare name it is.

    Among several of one bare name a single one in scope is meant. None when none or several can be meant.
    """
    for tool in tools:
        if tool.name == name:
            return tool
    bare = _of_bare_name(name, tools)
    scoped = [tool for tool in bare if in_scope(tool.name, scope)]
    candidates = scoped or bare
    return candidates[0] if len(candidates) == 1 else None


def _of_bare_name(name: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    return [tool for tool in tools if name and tool.name.endswith(SEPARATOR + name)]


def scope_verdict(tool: ToolSpec, tools: Sequence[ToolSpec], scope: tuple[str, ...] | None) -> Verdict | None:
    """A denial when the tool is out of scope, which names the tools that are in; else None."""
    if in_scope(tool.name, scope):
        return None
    return Verdict(
        decision="deny",
        rule="scope",
        reason=f"{quoted(tool.name)} is not among this agent's tools. {_offer(tools, scope)}",
    )


def unknown_verdict(name: str, tools: Sequence[ToolSpec], scope: tuple[str, ...] | None) -> Verdict:
    """The denial of a name that means no declared tool, with what the model needs to do better."""
    if scope == ():
        return Verdict(decision="deny", rule="scope", reason=_offer(tools, scope))
    offered = [tool for tool in tools if in_scope(tool.name, scope)]
    several = [tool.name for tool in _of_bare_name(name, offered)]
    if several:
        why = f"{quoted(name)} can mean several tools: {_listed(several)}. Use the full name."
    else:
        near = difflib.get_close_matches(name[:MAX_NAME], [tool.name for tool in offered], n=1)
        hint = f" Did you mean {quoted(near[0])}?" if near else ""
        why = f"There is no tool {quoted(name)}.{hint} {_offer(tools, scope)}"
    return Verdict(decision="deny", rule="unknown_tool", reason=why)


def quoted(name: str) -> str:
    """A tool's name in quotes, cut when a model wrote something endless."""
    return f'"{name}"' if len(name) <= MAX_NAME else f'"{name[:MAX_NAME]}…"'


def _offer(tools: Sequence[ToolSpec], scope: tuple[str, ...] | None) -> str:
    offered = [tool.name for tool in tools if in_scope(tool.name, scope)]
    return f"Declared tools: {_listed(offered)}." if offered else "This agent may call no tools: answer without them."


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {rest} more" if rest > 0 else "")
