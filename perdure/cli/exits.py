"""How a command ends: its exit code, the one line that a person reads when it went wrong, and the way out.

A process that held a Temporal client and a worker crashes in about one of five exits (134 or 139), after all work is
done, and the exit code is lost with it. So the streams are flushed and the process ends without Python's teardown.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn

DEBUG_VARIABLE = "PERDURE_DEBUG"


class Code(IntEnum):
    """Exit codes. `INTERRUPTED` and `UNREAD` are the shell's own, for Ctrl-C and for a reader that went away."""

    OUTPUT = 0
    FAILED = 1
    USAGE = 2
    UNAVAILABLE = 3
    WAITING = 4
    INTERRUPTED = 130
    UNREAD = 141


def guarded(command: Callable[[], int]) -> int:
    """Run ``command`` and return its exit code; whatever it raises becomes one line on the error stream."""
    try:
        return command()
    except KeyboardInterrupt:
        say("interrupted")
        return Code.INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - the last place where an error can become a line for a person
        return report(error)


def report(error: BaseException) -> int:
    """Say in one line what went wrong and return the exit code that belongs to it."""
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        # The reader of our output has seen enough (`perdure ls | head`); a later flush must not complain again.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Code.UNREAD
    code, sentence = explained(error)
    say(f"error: {sentence}")
    return code


def explained(error: BaseException) -> tuple[Code, str]:
    """The exit code and the sentence that belong to ``error``. What nobody foresaw is written to a file in full."""
    import asyncio

    import click
    from pydantic import ValidationError

    from perdure.cli.next import next_step
    from perdure.cli.text import one_line, sentences
    from perdure.contracts.errors import CallerError, OperatorError, PerdureError
    from perdure.contracts.failures import MAX_MESSAGE
    from perdure.contracts.written import explained as fields_of

    match error:
        case PerdureError():
            said = one_line(str(error), MAX_MESSAGE)
            match error:
                case CallerError():
                    code = Code.USAGE
                case OperatorError():
                    code = Code.UNAVAILABLE
                case _:
                    code = Code.FAILED
            return code, sentences(said, next_step(error))
        case click.UsageError():
            return Code.USAGE, sentences(one_line(error.format_message(), MAX_MESSAGE), _where_help_is(error))
        case click.ClickException():
            return Code.USAGE, one_line(error.format_message(), MAX_MESSAGE)
        case click.exceptions.Abort():
            return Code.INTERRUPTED, "interrupted"
        case asyncio.CancelledError():
            why = "The connection to the Temporal server or to the model was given up before it was used"
            return Code.UNAVAILABLE, f"{why} ({_details(error)})."
        case OSError(errno=errno.ENOSPC | errno.EIO | errno.EBADF, filename=None):
            return Code.FAILED, f"The output cannot be written: {error.strerror}."
        case _:
            what = fields_of(error) if isinstance(error, ValidationError) else str(error)
            kind = f"{type(error).__name__}: {what}" if what else type(error).__name__
            return Code.FAILED, f"unexpected {one_line(kind, 300)} ({_details(error)})"


def _where_help_is(error: object) -> str:
    context = getattr(error, "ctx", None)
    return f"See `{context.command_path} --help`." if context else ""


def _details(error: BaseException) -> str:
    try:
        # An installation that is broken is an error like others here.
        import platformdirs

        from perdure.worker.logs import Redaction

        path = platformdirs.user_log_path("perdure", ensure_exists=True) / "last-error.log"
        path.write_text(Redaction().text("".join(traceback.format_exception(error))), encoding="utf-8")
    except (OSError, ImportError):
        return f"{DEBUG_VARIABLE}=1 shows the details"
    return f"details: {path}"


def say(line: str) -> None:
    """Write one line to the error stream; one that nobody reads is no error."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def leave(code: int) -> NoReturn:
    """Flush the standard streams and end the process with ``code``; with 1 instead of 0 when output is lost."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = code or Code.UNREAD
    except (OSError, ValueError) as error:
        if code == Code.OUTPUT:
            code = report(error)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(int(code))
