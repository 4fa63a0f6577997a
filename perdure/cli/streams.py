"""The standard streams: there even when whoever started us closed them, and the output ours alone under ``--json``."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def open_standard_streams() -> None:
    """Put /dev/null where a standard stream is closed: a file that is opened later would get its number otherwise."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(0)  # noqa: SIM115 - open to the end of the process
    sys.stdout = sys.stdout or open(1, "w")  # noqa: SIM115 - as above
    sys.stderr = sys.stderr or open(2, "w")  # noqa: SIM115 - as above


def read_input() -> str:
    """All that comes through the standard input. Raises InvalidInputError when it is no text in UTF-8."""
    from perdure.contracts.errors import InvalidInputError

    read = sys.stdin.buffer.read()
    try:
        return read.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"The standard input is no text in UTF-8 (byte {error.start + 1:,}). Convert it, as in "
            "`iconv -f latin1 -t utf-8`; what is no text goes with --attach FILE."
        ) from None


def check_arguments() -> None:
    """Check that the arguments can be recorded. Raises UsageError for one that is no text in UTF-8."""
    import click

    for argument in sys.argv[1:]:
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = ascii(argument if len(argument) <= 60 else argument[:60])
            raise click.UsageError(
                f"The argument {shown} is no text in UTF-8: convert it, or rename the file."
            ) from None


def take_output() -> TextIO:
    """The output for the caller alone. What anybody else prints or writes to it goes to the error stream from now on.

    Tools are somebody's code: one that prints must not write between the lines that a program reads.
    """
    ours = sys.stdout
    try:
        descriptor = ours.fileno()
    except (OSError, io.UnsupportedOperation):
        sys.stdout = sys.stderr
        return ours
    ours.flush()
    kept = os.dup(descriptor)
    os.dup2(sys.stderr.fileno(), descriptor)
    sys.stdout = sys.stderr
    return open(kept, "w", encoding="utf-8", errors="replace")
