"""``perdure show``."""

from __future__ import annotations

import click

from perdure.cli.commands.parameters import run_id_argument


@click.command()
@run_id_argument
@click.option("--json", "as_json", is_flag=True, help="Write the whole state of the run as JSON.")
def show(run_id: str, as_json: bool) -> int:
    """Show RUN_ID: transcript, status, cost, and what waits for a human, with the commands that decide it.

    It is read from the run's history: no worker is needed, and runs that have ended show as well.

    \b
    Examples:
      perdure show run-52d9a0bc03a2
      perdure show run-52d9a0bc03a2 --json | jq .messages
    """
    from perdure.cli.session import perform
    from perdure.cli.show import show_run

    return perform(show_run(run_id, as_json=as_json))
