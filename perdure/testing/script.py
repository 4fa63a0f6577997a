"""Scripts of a model, written as sentences: what it says, what it asks for, and where it fails.

script(
    asks("read_file", path="notes.md"),
    fails("rate_limited"),
    together(thinks("Two places."), says("I look at both."), asks("list_dir", path="a"), asks("list_dir", path="b")),
    says("Done."),
)
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import JsonValue

from perdure.contracts.messages import FinishReason
from perdure.contracts.usage import Usage
from perdure.providers.scripted import Pause, Reply, Script, ScriptedCall, ScriptedErrorKind, ScriptedFailure

Line = Reply | ScriptedFailure

FOR_GOOD = 100
"""Attempts that a failure at a script's end lasts: more than anybody makes."""


def says(*pieces: str, finish: FinishReason | None = None, usage: Usage | None = None) -> Reply:
    """A reply of text; each piece is streamed on its own."""
    reply = Reply(text=pieces, finish=finish)
    return reply if usage is None else reply.model_copy(update={"usage": usage})


def thinks(*pieces: str) -> Reply:
    """Reasoning. Alone it is a reply of reasoning; `together` with others it comes first."""
    return Reply(reasoning=pieces)


def asks(tool: str, /, **arguments: JsonValue) -> Reply:
    """A reply that calls one tool; several calls in one reply go `together`."""
    return Reply(calls=(ScriptedCall(tool=tool, arguments=arguments),))


def asks_badly(tool: str, arguments_text: str) -> Reply:
    """A reply that calls a tool with arguments as they stand here, JSON or not."""
    return Reply(calls=(ScriptedCall(tool=tool, arguments_text=arguments_text),))


def together(*replies: Reply) -> Reply:
    """One reply that does what all of these do: the reasoning of all, then the text of all, then all calls.

    How the reply ends, what it takes, and where it waits or fails is the last one's affair.
    """
    if not replies:
        raise ValueError("together() needs at least one reply, such as says(…) or asks(…).")
    return replies[-1].model_copy(
        update={
            "reasoning": tuple(piece for reply in replies for piece in reply.reasoning),
            "text": tuple(piece for reply in replies for piece in reply.text),
            "calls": tuple(call for reply in replies for call in reply.calls),
        }
    )


def refuses(text: str) -> Reply:
    """A reply in which the model refuses."""
    return says(text, finish="refused")


def fails(
    kind: ScriptedErrorKind,
    *,
    after: int = 0,
    status: int | None = None,
    retry_after: timedelta | None = None,
    detail: str = "the script says so",
) -> ScriptedFailure:
    """An attempt that fails, after ``after`` pieces of the reply below it were streamed.

    The reply below comes when the model is asked again; several failures in a row fail as many attempts. With no reply
    below, every attempt fails. A kind that is not retried (``authentication``, for one) is never asked again.
    """
    return ScriptedFailure(kind=kind, after=after, status=status, retry_after=retry_after, detail=detail)


def slowly(reply: Reply, pace: timedelta) -> Reply:
    """The reply with ``pace`` after each piece."""
    return reply.model_copy(update={"pace": pace})


def held(reply: Reply, gate: Path, *, after: int = 0) -> Reply:
    """The reply, waiting after ``after`` pieces until somebody opens the `perdure.providers.gate.Gate` at ``gate``."""
    return reply.model_copy(update={"pauses": (*reply.pauses, Pause(gate=str(gate), after=after))})


def unless_forced(reply: Reply, forced: Reply) -> Reply:
    """The reply, or ``forced`` when the model is offered no tools because it must answer now."""
    return reply.model_copy(update={"forced": forced})


def script(*lines: Line, repeat_last: bool = False) -> Script:
    """The script of a run: one reply for each model call, in order.

    A test whose run calls the model more often than the script has replies fails, unless ``repeat_last`` gives it the
    last one again and again.
    """
    replies: list[Reply] = []
    failures: list[ScriptedFailure] = []
    for line in lines:
        if isinstance(line, ScriptedFailure):
            failures.append(line)
            continue
        replies.append(line.model_copy(update={"failures": (*failures, *line.failures)}))
        failures.clear()
    if failures:
        replies.append(Reply(failures=(*failures, *[failures[-1]] * FOR_GOOD)))
    return Script(replies=tuple(replies), repeat_last=repeat_last)


def save(played: Script, path: str | Path) -> str:
    """Write the script to a file, and return the name of the model that plays it, for any process on this machine."""
    file = Path(path)
    played.save(file)
    return f"scripted:{file.resolve()}"
