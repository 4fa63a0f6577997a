"""The commands by name. Each is imported when it is called: ``perdure --help`` must not wait for Temporal's library."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from dataclasses import dataclass

import click
from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is, and its short help: known here, so that a list of commands imports none of them."""

    module: str
    summary: str
    attribute: str = ""


COMMANDS = {
    "run": Entry("perdure.cli.commands.run", "Run an agent on a task and follow it to its end."),
    "follow": Entry("perdure.cli.commands.follow", "Follow a run from its beginning, or take up one that was left."),
    "ls": Entry("perdure.cli.commands.ls", "List runs: status, agent, what they wait for."),
    "show": Entry("perdure.cli.commands.show", "Show a run: transcript, status, open requests, cost."),
    "inbox": Entry("perdure.cli.commands.responses", "Show what waits for a human in all runs."),
    "approve": Entry(
        "perdure.cli.commands.responses", "Let waiting calls go ahead; change their arguments, remember it."
    ),
    "deny": Entry("perdure.cli.commands.responses", "Refuse waiting calls, with a reason for the model."),
    "answer": Entry("perdure.cli.commands.responses", "Answer the question that an agent asks."),
    "grants": Entry("perdure.cli.commands.responses", "List remembered approvals, and take them back."),
    "send": Entry("perdure.cli.commands.orders", "Send a run a further message."),
    "edit": Entry("perdure.cli.commands.orders", "Change a message that waits for delivery."),
    "withdraw": Entry("perdure.cli.commands.orders", "Take a message back."),
    "interrupt": Entry("perdure.cli.commands.orders", "Stop the turn that is running; its partial text is kept."),
    "close": Entry("perdure.cli.commands.orders", "End a conversation after the turn that is running."),
    "cancel": Entry("perdure.cli.commands.orders", "Cancel a run now."),
    "stop": Entry("perdure.cli.commands.orders", "Cancel every run of an agent now."),
    "export": Entry("perdure.cli.commands.export", "Write a run's messages and events for other programs."),
    "agents": Entry("perdure.cli.commands.agents", "List agents, and what is wrong with their files."),
    "models": Entry("perdure.cli.commands.models", "List model providers, and check a model."),
    "policy": Entry("perdure.cli.commands.policy", "Look at and check tool policies."),
    "worker": Entry("perdure.cli.commands.worker", "Serve runs until told to stop."),
    "setup": Entry("perdure.cli.commands.setup", "Prepare a Temporal namespace: search attributes and retention."),
    "completion": Entry("perdure.cli.commands.completion", "Print the completion script of a shell."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, and listed without that."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the table."""
        return [name for name, entry in COMMANDS.items() if importlib.util.find_spec(entry.module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None when there is none."""
        entry = COMMANDS.get(cmd_name)
        if entry is None or importlib.util.find_spec(entry.module) is None:
            return None
        command = getattr(importlib.import_module(entry.module), entry.attribute or cmd_name)
        assert isinstance(command, click.Command), f"{entry.module} has no command {cmd_name}"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was named. Raises UsageError, which names the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean `perdure {near[0]}`?" if near else ""
            raise click.UsageError(f"{error.format_message()}{hint}", ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin so."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=COMMANDS[name].summary) for name in names), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table."""
        rows = [(name, COMMANDS[name].summary) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="perdure", message="%(prog)s %(version)s")
def app() -> None:
    """AI agents that outlive their processes.

    A run is a Temporal workflow: kill the process, and it goes on where it was when a worker is there again.

    \b
    Examples:
      perdure run "Summarise the files of this folder into SUMMARY.md"
      perdure inbox
      perdure approve RUN_ID
      perdure follow RUN_ID

    \b
    Exit codes:
      0 output   1 failed   2 wrong usage   3 no server or model   4 waits for a human   130 interrupted

    Settings come from PERDURE_… variables, .env and perdure.toml. Errors are one line; PERDURE_DEBUG=1 shows more.
    PERDURE_ACTOR=NAME says who decides, where that is not the account's own name.
    """
