"""``perdure models``."""

from __future__ import annotations

from datetime import timedelta

import click

from perdure.cli.commands.parameters import DURATION


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Write one provider per line as JSON.")
@click.pass_context
def models(ctx: click.Context, as_json: bool) -> int:
    """List model providers: whose key is set, which servers on this machine answer, and what runs use by default.

    \b
    Examples:
      perdure models
      perdure models check
      perdure models check openai:gpt-5-mini
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from perdure.cli.models import list_models
    from perdure.cli.session import perform

    return perform(list_models(as_json=as_json))


@models.command("check")
@click.argument("model", metavar="[PROVIDER:MODEL]", required=False)
@click.option("--within", type=DURATION, default="2m", show_default=True, metavar="TIME", help="How long it may take.")
def check(model: str | None, within: timedelta) -> int:
    """Make one small call to a model, with a tool on offer, and say what works. Where models cost, it costs little.

    \b
    Exit codes:
      0 it calls tools   1 it failed, or does not call tools   2 no such model   3 no key

    \b
    Examples:
      perdure models check
      perdure models check ollama:qwen3 --within 5m
    """
    from perdure.cli.check import check_model
    from perdure.cli.session import perform

    return perform(check_model(model, within))
