"""``perdure worker``."""

from __future__ import annotations

import click

from perdure.cli.commands.parameters import tools_option


@click.command()
@tools_option
@click.option("--model", metavar="PROVIDER:MODEL", help="Model of runs and agents that name none.")
@click.option("--workspace", metavar="DIR", help="Folder that file tools and commands work in. Default: this one.")
def worker(tools: tuple[str, ...], model: str | None, workspace: str | None) -> int:
    """Serve runs until told to stop (Ctrl-C, SIGTERM); running calls may then finish. A second signal ends it at once.

    Uses the Temporal server of PERDURE_ADDRESS, or one on this machine, started when needed. Start as many workers as
    you like, with the same tools: they share the work, and a run goes on with any of them when one dies.

    \b
    Examples:
      perdure worker --tools due.py
      PERDURE_ADDRESS=temporal.example.org:7233 perdure worker
    """
    from perdure.cli.serve import serve
    from perdure.cli.session import perform

    return perform(serve(tools, {"model": model, "workspace": workspace}))
