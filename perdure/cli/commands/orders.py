"""``perdure approve``, ``deny``, ``answer``, ``send``, ``interrupt``, ``close``, ``cancel``."""

from __future__ import annotations

import click

from perdure.cli.commands.parameters import run_id_argument

reason_option = click.option("--reason", default="", metavar="TEXT", help="Why; it is recorded with the order.")


@click.command()
@run_id_argument
@click.argument("call_ids", metavar="[CALL_ID]...", nargs=-1)
@reason_option
def approve(run_id: str, call_ids: tuple[str, ...], reason: str) -> int:
    """Let calls of RUN_ID go ahead: the named ones, or all that wait now.

    `perdure show RUN_ID` shows what waits. An approval counts for the arguments that it shows, once.

    \b
    Examples:
      perdure approve run-52d9a0bc03a2
      perdure approve run-52d9a0bc03a2 t1s3c1
      temporal workflow signal -w run-52d9a0bc03a2 --name approve --input '{"call_id": "t1s3c1"}'
    """
    from perdure.cli.order import decide
    from perdure.cli.session import perform

    return perform(decide(run_id, call_ids, approve=True, reason=reason))


@click.command()
@run_id_argument
@click.argument("call_ids", metavar="[CALL_ID]...", nargs=-1)
@click.option("--reason", default="", metavar="TEXT", help="Why; the model reads it.")
def deny(run_id: str, call_ids: tuple[str, ...], reason: str) -> int:
    """Refuse calls of RUN_ID: the named ones, or all that wait now. They never run.

    \b
    Example:
      perdure deny run-52d9a0bc03a2 t1s3c1 --reason "Write it in German"
    """
    from perdure.cli.order import decide
    from perdure.cli.session import perform

    return perform(decide(run_id, call_ids, approve=False, reason=reason))


@click.command()
@run_id_argument
@click.argument("text")
@click.option("--call", "call_id", default="", metavar="CALL_ID", help="Which question, when several are open.")
def answer(run_id: str, text: str, call_id: str) -> int:
    """Answer the question that RUN_ID asks with TEXT; where it offers options, TEXT is one of them.

    \b
    Example:
      perdure answer run-52d9a0bc03a2 "the second one"
    """
    from perdure.cli.order import answer as give_answer
    from perdure.cli.session import perform

    return perform(give_answer(run_id, text, call_id))


@click.command()
@run_id_argument
@click.argument("text")
def send(run_id: str, text: str) -> int:
    """Send RUN_ID the further message TEXT. The agent reads it at its next step; it never counts as an approval.

    \b
    Example:
      perdure send run-52d9a0bc03a2 "Leave out the budget"
    """
    from perdure.cli.order import send as give_message
    from perdure.cli.session import perform

    return perform(give_message(run_id, text))


@click.command()
@run_id_argument
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
@run_id_argument
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
@run_id_argument
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
