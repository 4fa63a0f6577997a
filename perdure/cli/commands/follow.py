"""``perdure follow``."""

from __future__ import annotations

import click

from perdure.cli.commands.parameters import run_id_argument, tools_option


@click.command()
@run_id_argument
@tools_option
@click.option("--worker/--no-worker", "serve", default=None, help="Serve the run here, or only watch.")
@click.option("--yes", is_flag=True, help="Approve what policy asks. Safety rules still wait for a person.")
@click.option("--json", "as_json", is_flag=True, help="Write one event per line as JSON; everything else to stderr.")
def follow(run_id: str, tools: tuple[str, ...], serve: bool | None, yes: bool, as_json: bool) -> int:
    """Follow RUN_ID from its beginning to its end, and ask here what it asks.

    Takes up a run that was left or whose process died: with the server of this machine, this process serves it too
    (give the --tools that it was started with). With PERDURE_ADDRESS it only watches, unless --worker says otherwise.

    Ctrl-C leaves the run as it is.

    \b
    Examples:
      perdure follow run-52d9a0bc03a2
      perdure follow run-52d9a0bc03a2 --tools due.py

    Exit codes are those of `perdure run`.
    """
    from perdure.cli.resume import FollowOptions, follow_run
    from perdure.cli.session import perform

    return perform(follow_run(FollowOptions(run_id, tools, serve, yes, as_json)))
