"""Parameters that several commands share."""

from __future__ import annotations

import re
from datetime import timedelta

import click
from click.shell_completion import CompletionItem

LONGEST_ID = 255


class RunId(click.ParamType[str]):
    """The id of a run: visible characters without blanks, as anybody may choose them for a Temporal workflow.

    A shell offers runs of the ``statuses``; of any when there are none.
    """

    name = "run id"

    def __init__(self, *statuses: str) -> None:
        self._statuses = statuses

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The id as it is. Fails for one that no run can have."""
        if not re.fullmatch(r"[^\s\x00-\x1f\x7f-\x9f]+", value) or len(value) > LONGEST_ID:
            shown = repr(value) if len(value) <= 60 else f"{value[:60]!r}…"
            self.fail(
                f"{shown} is no run id: 1 to {LONGEST_ID} characters without blanks. `perdure ls` lists the runs."
            )
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The newest runs that begin with what is typed; none when no server answers quickly."""
        from perdure.cli.complete import runs

        return [CompletionItem(run.run_id, help=run.status) for run in runs(incomplete, self._statuses)]


class NewRunId(click.ParamType[str]):
    """The id of a run that is started here: one that no shell, URL or file name has to quote."""

    name = "new run id"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The id as it is. Fails for one that is hard to handle."""
        from perdure.contracts.ids import run_id_problem

        if problem := run_id_problem(value):
            self.fail(problem)
        return value


class Duration(click.ParamType[timedelta]):
    """A span of time as people write it."""

    name = "time"

    def convert(self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """The span. Fails for what is none, not above zero, or too long."""
        from perdure.contracts.durations import LONGEST, read_duration

        read = read_duration(value)
        if not isinstance(read, timedelta) or not read:
            self.fail(f"{value!r} is no time: write it as in 30s, 5m, 2h or 30d.")
        if read > LONGEST:
            self.fail(f"{value!r} is too long: at most {LONGEST.days}d. Without an end, leave it out.")
        return read


WAITING = ("waiting_approval", "waiting_answer", "waiting_external", "waiting_budget")

RUN_ID = RunId()
GOING_ON = RunId("running", "idle", *WAITING)
ASKING = RunId(*WAITING)
NEW_RUN_ID = NewRunId()
DURATION = Duration()


def offer_calls(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The calls of the run that wait for approval and are not named yet."""
    from perdure.cli.complete import calls

    named = ctx.params.get("call_ids") or ()
    found = calls(ctx.params.get("run_id") or "", incomplete)
    return [CompletionItem(call_id, help=tool) for call_id, tool in found if call_id not in named]


def offer_messages(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The messages of the run that wait for delivery."""
    from perdure.cli.complete import messages

    return messages(ctx.params.get("run_id") or "", incomplete)


def offer_agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents of this folder and of the user; files where none begins so."""
    from perdure.cli.complete import agents

    found = [CompletionItem(name, help=description) for name, description in agents(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


run_id_argument = click.argument("run_id", type=RUN_ID)
going_on_argument = click.argument("run_id", type=GOING_ON)
tools_option = click.option(
    "--tools",
    multiple=True,
    type=click.Path(),
    metavar="PATH",
    help="Tools to serve: file.py, file.py:function or module:function. Can be repeated.",
)
