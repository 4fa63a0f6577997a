"""Changing the arguments of a call before it is approved: in an editor, or as JSON on the command line."""

from __future__ import annotations

import json
import os
import sys

import click
from pydantic import JsonValue

from perdure.authority.arguments import arguments_verdict
from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.terminal import Lines, interactive
from perdure.contracts.approvals import RequestedCall
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.messages import CallPart
from perdure.contracts.state import State

Arguments = dict[str, JsonValue]


def arguments_in(text: str) -> Arguments:
    """The arguments in ``text``. Raises InvalidInputError, which says where it is no JSON object."""
    try:
        read = json.loads(text, object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"The arguments are no JSON: {error.msg} (line {error.lineno}, column {error.colno}). Nothing was approved."
        ) from None
    except InvalidInputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"The arguments are no JSON that can be read: {error}. Nothing was approved.") from None
    if not isinstance(read, dict):
        raise InvalidInputError("The arguments must be a JSON object, of values by name. Nothing was approved.")
    return read


def _without_doubles(pairs: list[tuple[str, JsonValue]]) -> Arguments:
    read = dict(pairs)
    if len(read) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"The arguments hold {double!r} twice: which counts? Nothing was approved.")
    return read


def check_fit(arguments: Arguments, call: RequestedCall, state: State) -> None:
    """Check that the tool takes the arguments: the run would only tell the model. Raises InvalidInputError."""
    tool = state.agent.tool(call.tool) if state.agent else None
    part = CallPart(call_id=call.call_id, tool=call.tool, arguments=arguments, arguments_text=json.dumps(arguments))
    verdict = arguments_verdict(part, tool) if tool else None
    if verdict is not None:
        raise InvalidInputError(f"Nothing was approved. {verdict.reason}")


async def revised(call: RequestedCall, state: State, screen: Screen) -> Arguments:
    """What a person makes of the arguments in an editor.

    Raises InvalidInputError when nothing was changed, or when what was written cannot be used and nobody can be asked
    to mend it; at a terminal the editor opens again with it.
    """
    if not (interactive() or os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise InvalidInputError("There is no terminal for an editor: give the arguments as JSON with --arguments.")
    text = json.dumps(call.arguments, ensure_ascii=False, indent=2) + "\n"
    while True:
        written = click.edit(text, extension=".json", require_save=False)
        if written is None:
            raise InvalidInputError("The editor gave nothing back. Nothing was approved.")
        try:
            arguments = arguments_in(written)
            check_fit(arguments, call, state)
        except InvalidInputError as error:
            if not await _again(screen, str(error)):
                raise
            text = written
            continue
        if arguments == call.arguments:
            raise InvalidInputError(
                "Nothing was changed, and nothing was approved. Without --edit the call is approved as it is."
            )
        return arguments


async def _again(screen: Screen, why: str) -> bool:
    if not interactive():
        return False
    screen.ask((Span(f"{why}\nEnter opens the editor again, Ctrl-D leaves the call waiting: ", "alert"),))
    return await Lines(sys.stdin.fileno()).next() is not None
