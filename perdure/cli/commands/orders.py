"""``perdure send``, ``edit``, ``withdraw``, ``interrupt``, ``close``, ``cancel``, ``stop``: steering and stopping."""

from __future__ import annotations

import click

from perdure.cli.commands.parameters import going_on_argument, offer_agents, offer_messages

reason_option = click.option("--reason", default="", metavar="TEXT", help="Why; it is recorded with the order.")
message_id_argument = click.argument("message_id", shell_complete=offer_messages)


@click.command()
@going_on_argument
@click.argument("text")
def send(run_id: str, text: str) -> int:
    """Send RUN_ID the further message TEXT. The agent reads it at its next step; it never counts as an approval.

    Prints the message's id; until it is delivered, `perdure edit` changes it and `perdure withdraw` takes it back.

    \b
    Example:
      perdure send run-52d9a0bc03a2 "Leave out the budget"
    """
    from perdure.cli.order import send as give_message
    from perdure.cli.session import perform

    return perform(give_message(run_id, text))


@click.command()
@going_on_argument
@message_id_argument
@click.argument("text")
def edit(run_id: str, message_id: str, text: str) -> int:
    """Change message MESSAGE_ID of RUN_ID to TEXT, while it waits for delivery. `perdure show` lists such messages.

    \b
    Example:
      perdure edit run-52d9a0bc03a2 u2 "Leave out the budget and the names"
    """
    from perdure.cli.order import edit as give_edit
    from perdure.cli.session import perform

    return perform(give_edit(run_id, message_id, text))


@click.command()
@going_on_argument
@message_id_argument
@reason_option
def withdraw(run_id: str, message_id: str, reason: str) -> int:
    """Take message MESSAGE_ID of RUN_ID back. One that waits is never delivered; one of the running turn ends the turn,
    and other messages that the turn took go unanswered with it.

    \b
    Example:
      perdure withdraw run-52d9a0bc03a2 u2
    """
    from perdure.cli.order import withdraw as give_withdraw
    from perdure.cli.session import perform

    return perform(give_withdraw(run_id, message_id, reason))


@click.command()
@going_on_argument
@reason_option
def interrupt(run_id: str, reason: str) -> int:
    """Stop the turn of RUN_ID that is running. What the model wrote is kept; a conversation takes the next message.

    \b
    Example:
      perdure interrupt run-52d9a0bc03a2
    """
    from perdure.cli.order import interrupt as give_interrupt
    from perdure.cli.session import perform

    return perform(give_interrupt(run_id, reason))


@click.command()
@going_on_argument
@reason_option
def close(run_id: str, reason: str) -> int:
    """End the conversation RUN_ID: after the turn that is running, or at once when it rests.

    \b
    Example:
      perdure close run-52d9a0bc03a2
    """
    from perdure.cli.order import close as give_close
    from perdure.cli.session import perform

    return perform(give_close(run_id, reason))


@click.command()
@going_on_argument
@reason_option
def cancel(run_id: str, reason: str) -> int:
    """Cancel RUN_ID now: open calls are stopped and settled, and it ends as canceled.

    \b
    Example:
      perdure cancel run-52d9a0bc03a2 --reason "no longer needed"
    """
    from perdure.cli.order import cancel as give_cancel
    from perdure.cli.session import perform

    return perform(give_cancel(run_id, reason))


@click.command()
@click.option(
    "--agent",
    default="",
    metavar="NAME",
    help="Only runs of this agent. Default: of every agent.",
    shell_complete=offer_agents,
)
@click.option("--all", "every", is_flag=True, help="Cancel all of them; they are shown first.")
@click.option("--yes", is_flag=True, help="Do not ask whether the list is right.")
@reason_option
def stop(agent: str, every: bool, yes: bool, reason: str) -> int:
    """Stop in an emergency: cancel every run of an agent (or of all agents) that goes on, and show each.

    One run is stopped with `perdure cancel RUN_ID`. Runs that no worker serves end when one comes; none of their calls
    runs before that.

    \b
    Examples:
      perdure stop --agent clerk --all --reason "it writes to the wrong folder"
      perdure stop --all --yes
    """
    if not every:
        raise click.UsageError(
            "This cancels every run at once: say so with --all. `perdure cancel RUN_ID` cancels one."
        )
    from perdure.cli.session import perform
    from perdure.cli.stop import stop_runs

    return perform(stop_runs(agent, reason, yes=yes))
