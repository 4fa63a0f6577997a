"""What commands may do without a question: read inside the workspace, with programs of which that is all they do.

A named program may also write inside of the workspace, read anywhere and use the network; code that is handed to it,
other programs that it starts, and redirections are not covered by its name. Safety rules come first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from perdure.authority.capabilities import (
    FILE_TOOL,
    Capability,
    ExecArgv,
    NetworkHost,
    ReadPath,
    Unknown,
    WritePath,
)
from perdure.authority.commands.analysis import analyse_command
from perdure.authority.paths import MachineFacts, analyse_paths, is_below
from perdure.authority.patterns import shown
from perdure.authority.protected import HARMLESS_DEVICE
from perdure.authority.safety import judge_safety
from perdure.contracts.approvals import Verdict
from perdure.contracts.tools import Effect


@dataclass(frozen=True, slots=True)
class CommandPolicy:
    """``allow`` names programs that run freely, beside the read-only ones. Raises ``ValueError`` for a wrong name."""

    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.allow:
            if not name or "/" in name or any(character.isspace() or character in "*?[]" for character in name):
                raise ValueError(f"allow: '{name}' is not the bare name of a program, such as 'ls'")


def judge_capabilities(
    capabilities: Iterable[Capability], facts: MachineFacts, allowed: CommandPolicy = CommandPolicy()
) -> Verdict:
    """The strictest verdict: a safety rule, then the first capability that the policy does not clear, else allow.

    A safety verdict's rule starts with ``safety:``; no mode and no grant may skip it. Other rules start with
    ``command:``, or ``path:`` for a file tool.
    """
    listed = tuple(capabilities)
    if (verdict := judge_safety(listed, facts)) is not None:
        return verdict
    for capability in listed:
        if (verdict := _objection(capability, facts, allowed)) is not None:
            return verdict
    if any(isinstance(capability, (ReadPath, WritePath)) and capability.by == FILE_TOOL for capability in listed):
        return Verdict(decision="allow", rule="path:workspace", reason="every path is inside the workspace")
    return Verdict(decision="allow", rule="command:free", reason="every program only reads, or may run freely")


def _objection(capability: Capability, facts: MachineFacts, allowed: CommandPolicy) -> Verdict | None:
    match capability:
        case ReadPath(path=path, by=by):
            if by in allowed.allow or is_below(path, facts.workspace) or HARMLESS_DEVICE.match(path):
                return None
            return _asks("path" if by == FILE_TOOL else "command", "outside-workspace", f"reads {shown(path)}")
        case WritePath(path=path, by=by):
            if HARMLESS_DEVICE.match(path) or (
                (by == FILE_TOOL or by in allowed.allow) and is_below(path, facts.workspace)
            ):
                return None
            if by == FILE_TOOL:
                return _asks("path", "outside-workspace", f"changes {shown(path)}")
            return _asks("command", "write", f"changes {shown(path)}")
        case ExecArgv(argv=argv, program=program, free=free):
            if free or program in allowed.allow:
                return None
            return _asks("command", "program", f"runs '{shown(' '.join(argv))[:200]}'")
        case NetworkHost(host=host, by=by):
            return None if by in allowed.allow else _asks("command", "network", f"contacts {shown(host)}")
        case Unknown(cause=cause, detail=detail):
            return _asks("command", cause, shown(detail))
        case _:
            assert_never(capability)


def _asks(prefix: str, rule: str, reason: str) -> Verdict:
    return Verdict(decision="ask", rule=f"{prefix}:{rule}", reason=reason)


def judge_command(text: str, facts: MachineFacts, allowed: CommandPolicy = CommandPolicy()) -> Verdict:
    """Analyse a command line and judge it."""
    return judge_capabilities(analyse_command(text, facts).capabilities, facts, allowed)


def judge_paths(tool_effect: Effect | None, paths: Iterable[str], facts: MachineFacts) -> Verdict:
    """Judge the path arguments of a file tool: safety rules, then the workspace's border."""
    return judge_capabilities(analyse_paths(tool_effect, paths, facts), facts)
