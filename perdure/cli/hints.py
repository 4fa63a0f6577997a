"""What to do next, as commands to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from perdure.cli.lines import because
from perdure.cli.text import one_line, plain
from perdure.cli.waiting import Asked
from perdure.contracts.approvals import Question


def how_to_decide(run_id: str, asked: Iterable[Asked]) -> str:
    """The commands that approve, deny or answer what waits in a run."""
    lines = [f"Run {run_id} waits for a human:"]
    for each in asked:
        if isinstance(each, Question):
            options = f" (one of: {', '.join(map(plain, each.options))})" if each.options else ""
            lines += [f"  {each.call_id} asks: {one_line(each.text, 300)}{options}"]
        else:
            lines += [f"  {each.call_id} {plain(each.tool)}: {because(each.verdict)}"]
        lines += [f"    {command}" for command in how_to_decide_one(run_id, each)]
    return "\n".join(lines)


def how_to_decide_one(run_id: str, asked: Asked) -> tuple[str, ...]:
    """The commands that decide one thing that waits."""
    run = shlex.quote(run_id)
    if isinstance(asked, Question):
        return (f'perdure answer {run} --call {asked.call_id} "…"',)
    return (f"perdure approve {run} {asked.call_id}", f'perdure deny {run} {asked.call_id} --reason "…"')


def how_to_go_on(run_id: str, tools: Iterable[str] = ()) -> str:
    """How a run that is left alone goes on: it is durable, but somebody must serve it."""
    return f"Run {run_id} is kept; it goes on while a worker serves it.\n{how_to_serve(run_id, tools)}"


def unserved(run_id: str, tools: Iterable[str] = ()) -> str:
    """That nothing happens to a run before somebody serves it, and how."""
    return f"No worker answers for run {run_id} now: it goes on when one serves it.\n{how_to_serve(run_id, tools)}"


def how_to_serve(run_id: str, tools: Iterable[str] = ()) -> str:
    """The commands that serve a run, or end it. ``tools`` are those that it brought."""
    run = shlex.quote(run_id)
    given = "".join(f" --tools {shlex.quote(path)}" for path in tools)
    commands = {
        f"perdure follow {run}{given}": "takes it up here, and asks here",
        f"perdure worker{given}": "serves it, and all runs under these settings",
        f"perdure cancel {run}": "ends it",
    }
    width = max(map(len, commands))
    return "\n".join(f"  {command:<{width}}    {does}" for command, does in commands.items())


def who_serves(run_id: str, task_queue: str) -> str:
    """Which command serves a run that waits on a task queue that this process does not serve."""
    run, queue = shlex.quote(run_id), shlex.quote(task_queue)
    return (
        f"Run {run_id} was started under other settings or with other tools, and this process does not serve it: "
        f"`perdure follow {run}` in the folder that it was started in, with the same --tools, takes it up. "
        f"`PERDURE_TASK_QUEUE={queue} perdure follow {run}` does so under the settings of this folder."
    )


def how_to_converse(run_id: str) -> str:
    """How a conversation that rests goes on."""
    run = shlex.quote(run_id)
    return f'The conversation rests. Go on with `perdure send {run} "…"`, end it with `perdure close {run}`.'
