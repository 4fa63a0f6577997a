"""Reach: what a call would touch, read off the arguments that its tool declares as paths or as a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from perdure.authority.capabilities import Capability
from perdure.authority.commands import analyse_command
from perdure.authority.paths import MachineFacts, analyse_paths
from perdure.authority.safety import judge_safety
from perdure.authority.scope import quoted
from perdure.contracts.approvals import Verdict
from perdure.contracts.tools import ToolSpec


def capabilities_of(tool: ToolSpec, arguments: Mapping[str, JsonValue], facts: MachineFacts) -> tuple[Capability, ...]:
    """Everything that the call would read, change, run or contact, as far as its arguments tell."""
    paths = (path for name in tool.path_arguments for path in _texts(arguments.get(name)))
    commands = _texts(arguments.get(tool.command_argument)) if tool.command_argument else ()
    return (
        *analyse_paths(tool.effect, paths, facts),
        *(capability for command in commands for capability in analyse_command(command, facts).capabilities),
    )


def safety_verdict(tool: ToolSpec, arguments: Mapping[str, JsonValue], facts: MachineFacts) -> Verdict | None:
    """What the safety rules say of the call; None when none of them matches."""
    verdict = judge_safety(capabilities_of(tool, arguments, facts), facts)
    return verdict and verdict.model_copy(update={"reason": f"{quoted(tool.name)} {verdict.reason}."})


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))
