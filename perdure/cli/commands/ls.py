"""``perdure ls``."""

from __future__ import annotations

import click

STATUSES = (
    "waiting",
    "running",
    "waiting_approval",
    "waiting_answer",
    "waiting_external",
    "waiting_budget",
    "idle",
    "completed",
    "failed",
    "canceled",
)


@click.command()
@click.option("--status", type=click.Choice(STATUSES), help="Only runs of this status; waiting is any that waits.")
@click.option("--limit", type=click.IntRange(min=1, max=1000), default=50, show_default=True, help="Runs at most.")
@click.option("--json", "as_json", is_flag=True, help="Write one run per line as JSON.")
def ls(status: str | None, limit: int, as_json: bool) -> int:
    """List runs, the newest first: id, status, agent, start, and what they wait for.

    \b
    Examples:
      perdure ls
      perdure ls --status waiting
      perdure ls --json | jq -r 'select(.status == "idle").run_id'
    """
    from perdure.cli.listing import list_runs
    from perdure.cli.session import perform

    return perform(list_runs(status, limit, as_json=as_json))
