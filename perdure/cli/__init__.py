"""The command line.

Rule: the only room that prints and exits. A person sees one line that says what to do, never a traceback.
"""

from __future__ import annotations

from typing import NoReturn


def main() -> NoReturn:
    """The program ``perdure``: runs one command and ends the process with its exit code."""
    from perdure.cli.exits import guarded, leave
    from perdure.cli.streams import open_standard_streams

    open_standard_streams()
    leave(guarded(run_command))


def run_command() -> int:
    """Run the command that the process was given and return its exit code."""
    import sys

    import click

    from perdure.cli.app import app
    from perdure.cli.streams import check_arguments

    for stream in (sys.stdout, sys.stderr):
        # A terminal whose encoding lacks a character shows a question mark; it does not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    check_arguments()
    try:
        code = app.main(prog_name="perdure", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 0
    except SystemExit as ended:
        # Completion ends so, by itself.
        code = ended.code
    return code if isinstance(code, int) else 0
