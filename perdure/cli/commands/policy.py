"""``perdure policy``."""

from __future__ import annotations

from pathlib import Path

import click


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
def check(command: str, as_lines: bool, allow: str, tree: bool, workspace: Path | None) -> int:
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
    from perdure.authority.commands import CommandPolicy
    from perdure.cli.policy import check_commands

    try:
        allowed = CommandPolicy(tuple(name.strip() for name in allow.split(",") if name.strip()))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--allow") from None
    return check_commands(command, allowed, workspace, as_lines=as_lines, tree=tree)
