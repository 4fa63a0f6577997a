"""``perdure export``."""

from __future__ import annotations

from typing import cast

import click

from perdure.cli.commands.parameters import run_id_argument


@click.command()
@run_id_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "json"]),
    default="jsonl",
    show_default=True,
    help="jsonl: one object a line. json: one object with run, messages, events.",
)
def export(run_id: str, form: str) -> int:
    """Write RUN_ID for other programs: its state, its messages and its events, as the history has them.

    It works without a worker, also for runs that have ended. With jsonl each line is an object of one key, which says
    what it is: {"run": …} first, then {"message": …} in order, then {"event": …} in order.

    \b
    Examples:
      perdure export run-52d9a0bc03a2 > run.jsonl
      perdure export run-52d9a0bc03a2 | jq -c '.message // empty'
      perdure export run-52d9a0bc03a2 --format json | jq '.run.usage'
    """
    from perdure.cli.export import Format, export_run
    from perdure.cli.session import perform

    return perform(export_run(run_id, cast(Format, form)))
