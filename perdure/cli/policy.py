"""``perdure policy``: ask the analyser what a command would do, and what the rules say of it."""

from __future__ import annotations

import getpass
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from perdure.activities.disk import LocalDisk
from perdure.authority.capabilities import as_json
from perdure.authority.commands import CommandAnalysis, CommandPolicy, analyse_command, judge_capabilities
from perdure.authority.paths import MachineFacts, with_disk
from perdure.contracts.approvals import Verdict


@click.group()
def policy() -> None:
    """Look at and check tool policies.

    \b
    Example:
      perdure policy check "git log | head"
    """


@policy.command("check")
@click.argument("command")
@click.option(
    "--json", "as_lines", is_flag=True, help="One JSON object a command: verdict, rule, reason, capabilities."
)
@click.option("--allow", default="", metavar="NAMES", help="Programs that may run freely, such as ls,cat.")
@click.option("--tree", is_flag=True, help="Also show the syntax tree.")
@click.option(
    "--workspace", type=click.Path(path_type=Path), help="The folder that is free to read. Default: this one."
)
@click.pass_context
def check(ctx: click.Context, command: str, as_lines: bool, allow: str, tree: bool, workspace: Path | None) -> None:
    """Say what the rules make of a shell command, without running it.

    COMMAND is one command line, in quotes; '-' reads commands from the standard input, one a line.

    \b
    Exit codes:
      0 every command is allowed   1 at least one would ask or be denied   2 wrong usage

    \b
    Examples:
      perdure policy check "git log | head"
      perdure policy check --json --allow ls,cat "cat a | sh"
      perdure policy check - < commands.txt
    """
    try:
        allowed = CommandPolicy(tuple(name.strip() for name in allow.split(",") if name.strip()))
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param_hint="--allow") from None
    facts = _facts(workspace)
    clear = True
    for line in _lines() if command == "-" else [command]:
        analysis = _analysed(line, facts)
        verdict = judge_capabilities(analysis.capabilities, facts, allowed)
        clear = clear and verdict.decision == "allow"
        click.echo(_as_json(analysis, verdict, tree) if as_lines else _as_text(analysis, verdict, tree))
    ctx.exit(0 if clear else 1)


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
    reason = verdict.reason.replace("\n", "\\n")
    lines = [f"{verdict.decision}  {verdict.rule}  {reason}"]
    for capability in analysis.capabilities:
        said = dict(as_json(capability))
        kind = said.pop("kind")
        lines.append(f"  {kind:8}" + "  ".join(f"{name}={_shown(value)}" for name, value in said.items()))
    if tree:
        lines.append(analysis.drawn_tree() or "  (no tree: the text does not parse)")
    return "\n".join(lines)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
