"""``perdure setup``."""

from __future__ import annotations

import click


@click.command()
@click.option("--retention", metavar="TIME", help="How long closed runs are kept, for example 30d. Default: 30d.")
def setup(retention: str | None) -> int:
    """Prepare a Temporal namespace: create Perdure's search attributes, and set how long closed runs are kept.

    Can be run again at any time. The server that Perdure starts itself needs none of it.

    \b
    Examples:
      PERDURE_ADDRESS=temporal.example.org:7233 perdure setup
      perdure setup --retention 90d
    """
    from perdure.cli.serve import set_up
    from perdure.cli.session import perform

    return perform(set_up(retention))
