"""``perdure inbox``, ``approve``, ``deny``, ``answer``, ``grants``: what people are asked, say, and have remembered."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from perdure.cli.commands.parameters import ASKING, DURATION, RUN_ID, offer_agents, offer_calls

if TYPE_CHECKING:
    from perdure.cli.decide import Decision

some_run_argument = click.argument("run_id", type=ASKING, required=False)
call_ids_argument = click.argument("call_ids", metavar="[CALL_ID]...", nargs=-1, shell_complete=offer_calls)
agent_option = click.option(
    "--agent", default="", metavar="NAME", help="Only of runs of this agent.", shell_complete=offer_agents
)
tool_option = click.option("--tool", default="", metavar="NAME", help="Only of this tool.")
all_option = click.option("--all", "every", is_flag=True, help="Calls of all runs; they are shown first.")
yes_option = click.option("--yes", is_flag=True, help="With --all: do not ask whether the list is right.")


@click.command()
@agent_option
@tool_option
@click.option("--full", is_flag=True, help="Show long arguments whole.")
@click.option("--json", "as_json", is_flag=True, help="Write one item per line as JSON, arguments whole.")
def inbox(agent: str, tool: str, full: bool, as_json: bool) -> int:
    """Show what waits for a human in all runs: exactly what would run, why it asks, since when, and until when.

    It is read from the histories of the runs: no worker is needed. What has the nearest deadline comes first.

    \b
    Examples:
      perdure inbox
      perdure inbox --agent clerk --tool publish
      perdure inbox --json | jq -r '[.run_id, .call.call_id, .call.tool] | @tsv'
    """
    from perdure.cli.inbox import Filter, show_inbox
    from perdure.cli.session import perform

    return perform(show_inbox(Filter(agent, tool), as_json=as_json, full=full))


@click.command()
@some_run_argument
@call_ids_argument
@all_option
@agent_option
@tool_option
@yes_option
@click.option("--edit", is_flag=True, help="Change the arguments in your editor ($EDITOR) first.")
@click.option("--arguments", metavar="JSON", help="Arguments in place of those that were asked for.")
@click.option(
    "--remember",
    type=click.Choice(["run", "agent", "user"]),
    help="Do not ask again for this run, this agent, or runs of the user who started it.",
)
@click.option(
    "--for", "lasts", type=DURATION, metavar="TIME", help="Remember for so long, as in 2h. Default: for ever."
)
@click.option("--any-arguments", is_flag=True, help="Remember for whatever arguments, not just these.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is recorded.")
def approve(
    run_id: str | None,
    call_ids: tuple[str, ...],
    every: bool,
    agent: str,
    tool: str,
    yes: bool,
    edit: bool,
    arguments: str | None,
    remember: str | None,
    lasts: timedelta | None,
    any_arguments: bool,
    reason: str,
) -> int:
    """Let calls of RUN_ID go ahead: the named ones, those of --tool, or the only one that waits. With --all instead,
    calls of all runs.

    `perdure inbox` shows what waits. An approval counts once, for the arguments that it shows; what is changed with
    --edit or --arguments is judged again before it runs. --remember makes a grant of it: `perdure grants` lists those,
    and takes them back. --all leaves out what a safety rule asks: that is approved by its id.

    \b
    Examples:
      perdure approve run-52d9a0bc03a2
      perdure approve run-52d9a0bc03a2 t1s3c1 --edit
      perdure approve run-52d9a0bc03a2 t1s3c1 --arguments '{"path": "SUMMARY.de.md", "content": "…"}'
      perdure approve run-52d9a0bc03a2 --remember agent --for 2h --any-arguments
      perdure approve --all --agent clerk --tool write_file
      temporal workflow signal -w run-52d9a0bc03a2 --name approve --input '{"call_id": "t1s3c1"}'
    """
    if remember is None and (lasts is not None or any_arguments):
        raise click.UsageError("--for and --any-arguments say how --remember remembers: add --remember.")
    if edit and arguments is not None:
        raise click.UsageError("--edit and --arguments both change the arguments: give one of them.")
    if every and (edit or arguments is not None):
        raise click.UsageError("--all approves calls as they are: change one at a time.")
    from perdure.cli.decide import Decision
    from perdure.contracts.requests import Remember

    kept = None
    if remember is not None:
        written = {"level": remember, "when": () if any_arguments else None, "expires_in": lasts}
        kept = Remember.model_validate(written)
    decision = Decision(approves=True, reason=reason, edit=edit, arguments=arguments, remember=kept)
    return _decide(decision, run_id, call_ids, every, agent, tool, yes)


@click.command()
@some_run_argument
@call_ids_argument
@all_option
@agent_option
@tool_option
@yes_option
@click.option("--reason", default="", metavar="TEXT", help="Why; the model reads it.")
def deny(
    run_id: str | None,
    call_ids: tuple[str, ...],
    every: bool,
    agent: str,
    tool: str,
    yes: bool,
    reason: str,
) -> int:
    """Refuse calls of RUN_ID: the named ones, those of --tool, or the only one that waits. They never run. With --all,
    calls of all runs.

    \b
    Examples:
      perdure deny run-52d9a0bc03a2 t1s3c1 --reason "Write it in German"
      perdure deny --all --tool publish --reason "Not before Monday"
    """
    from perdure.cli.decide import Decision

    return _decide(Decision(approves=False, reason=reason), run_id, call_ids, every, agent, tool, yes)


def _decide(
    decision: Decision, run_id: str | None, call_ids: tuple[str, ...], every: bool, agent: str, tool: str, yes: bool
) -> int:
    from perdure.cli.decide import decide_inbox, decide_run
    from perdure.cli.inbox import Filter
    from perdure.cli.session import perform

    if every and run_id is not None:
        raise click.UsageError("Name a run, or give --all for calls of all runs, not both.")
    if every:
        return perform(decide_inbox(Filter(agent, tool), decision, yes=yes))
    if run_id is None:
        raise click.UsageError(
            "Which run? Name its id, or give --all for calls of all runs. `perdure inbox` lists them."
        )
    if agent:
        raise click.UsageError("--agent chooses among runs: it goes with --all.")
    if tool and call_ids:
        raise click.UsageError("--tool chooses among the calls of a run: leave it out where calls are named.")
    return perform(decide_run(run_id, call_ids, tool, decision))


@click.command()
@click.argument("run_id", type=ASKING)
@click.argument("text")
@click.option("--call", "call_id", default="", metavar="CALL_ID", help="Which question, when several are open.")
def answer(run_id: str, text: str, call_id: str) -> int:
    """Answer the question that RUN_ID asks with TEXT; where it offers options, TEXT is one of them.

    A question that takes several options takes them with commas.

    \b
    Examples:
      perdure answer run-52d9a0bc03a2 "the second one"
      perdure answer run-52d9a0bc03a2 --call t1s2c1 "red, blue"
    """
    from perdure.cli.order import answer as give_answer
    from perdure.cli.session import perform

    return perform(give_answer(run_id, text, call_id))


@click.group(invoke_without_command=True)
@click.option("--run", "run_id", type=RUN_ID, default=None, metavar="RUN_ID", help="What was remembered in this run.")
@click.option(
    "--agent", default="", metavar="NAME", help="What is remembered for this agent.", shell_complete=offer_agents
)
@click.option("--user", default="", metavar="NAME", help="What is remembered for runs that this user starts.")
@click.option("--json", "as_json", is_flag=True, help="Write one grant per line as JSON.")
@click.pass_context
def grants(ctx: click.Context, run_id: str | None, agent: str, user: str, as_json: bool) -> int:
    """List grants: approvals that are remembered, for a run, an agent or a user. `grants revoke` takes one back.

    Those of agents and users are asked of a worker; those of a run stand in its history.

    \b
    Examples:
      perdure grants
      perdure grants --run run-52d9a0bc03a2
      perdure grants revoke run-52d9a0bc03a2/g1
    """
    if ctx.invoked_subcommand is not None:
        return 0
    if sum(map(bool, (run_id, agent, user))) > 1:
        raise click.UsageError("Give one of --run, --agent and --user.")
    from perdure.cli.grants import list_grants
    from perdure.cli.session import perform

    return perform(list_grants(run_id or "", agent, user, as_json=as_json))


@grants.command("revoke")
@click.argument("grant_id", metavar="GRANT")
@click.option("--run", "run_id", type=RUN_ID, default=None, metavar="RUN_ID", help="The run that it was made in.")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is recorded.")
def revoke(grant_id: str, run_id: str | None, reason: str) -> int:
    """Take GRANT back, as `perdure grants` names it: what it covered asks again, in runs that go on too.

    \b
    Examples:
      perdure grants revoke run-52d9a0bc03a2/g1
      perdure grants revoke g1 --run run-52d9a0bc03a2 --reason "it was meant for once"
    """
    from perdure.cli.grants import revoke_grant
    from perdure.cli.session import perform

    return perform(revoke_grant(grant_id, run_id or "", reason))
