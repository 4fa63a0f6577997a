"""Asking the analyser what a command would do, and what the rules say of it."""

from __future__ import annotations

import getpass
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from perdure.activities.disk import LocalDisk
from perdure.authority.capabilities import as_json
from perdure.authority.commands import CommandAnalysis, CommandPolicy, analyse_command, judge_capabilities
from perdure.authority.paths import MachineFacts, with_disk
from perdure.cli.screen import Screen
from perdure.cli.text import one_line, plain
from perdure.contracts.approvals import Verdict


def check_commands(command: str, allowed: CommandPolicy, workspace: Path | None, *, as_lines: bool, tree: bool) -> int:
    """Show the verdict on the command (on each line of the standard input for "-"); 1 unless all are allowed."""
    screen = Screen()
    facts = _facts(workspace)
    clear = True
    for line in _lines() if command == "-" else [command]:
        analysis = _analysed(line, facts)
        verdict = judge_capabilities(analysis.capabilities, facts, allowed)
        clear = clear and verdict.decision == "allow"
        screen.line(_as_json(analysis, verdict, tree) if as_lines else _as_text(analysis, verdict, tree))
    return 0 if clear else 1


def _lines() -> Iterator[str]:
    for line in sys.stdin.buffer:
        yield line.decode(errors="surrogateescape").rstrip("\n")


def _facts(workspace: Path | None) -> MachineFacts:
    folder = os.path.realpath(workspace or Path.cwd())
    home = os.path.realpath(Path.home())
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = ""
    return MachineFacts(home=home, workspace=folder, user=user, control_paths=(f"{folder}/agents",))


def _analysed(line: str, facts: MachineFacts) -> CommandAnalysis:
    return analyse_command(line, with_disk(lambda known: analyse_command(line, known).capabilities, facts, LocalDisk()))


def _as_json(analysis: CommandAnalysis, verdict: Verdict, tree: bool) -> str:
    said: dict[str, object] = {
        "verdict": verdict.decision,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "capabilities": [as_json(capability) for capability in analysis.capabilities],
    }
    if tree:
        said["tree"] = analysis.drawn_tree()
    return json.dumps(said)


def _as_text(analysis: CommandAnalysis, verdict: Verdict, tree: bool) -> str:
    lines = [f"{verdict.decision}  {verdict.rule}  {one_line(verdict.reason, 1_000)}"]
    for capability in analysis.capabilities:
        said = dict(as_json(capability))
        kind = said.pop("kind")
        lines.append(f"  {kind:8}" + "  ".join(f"{name}={_shown(value)}" for name, value in said.items()))
    if tree:
        lines.append(plain(analysis.drawn_tree()) or "  (no tree: the text does not parse)")
    return "\n".join(lines)


def _shown(value: object) -> str:
    return plain(json.dumps(value, ensure_ascii=False))
