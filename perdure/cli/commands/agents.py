"""``perdure agents``."""

from __future__ import annotations

import click

from perdure.cli.commands.parameters import tools_option


@click.command()
@tools_option
@click.option("--json", "as_json", is_flag=True, help="Write one agent per line as JSON.")
def agents(tools: tuple[str, ...], as_json: bool) -> int:
    """List agents: their files, models and tools, and what is wrong with a file, with its line and column.

    Agents are Markdown files in the folders of the setting `agents`: ./agents and the user's by default. One that
    names tools of yours needs them given with --tools, or in the settings.

    \b
    Exit codes:
      0 every agent can be used   1 one cannot   2 wrong usage

    \b
    Examples:
      perdure agents
      perdure agents --tools due.py
      perdure agents --json | jq -r .name
    """
    from perdure.cli.agents import list_agents
    from perdure.cli.session import perform

    return perform(list_agents(tools, as_json=as_json))
