"""Asking a person at the terminal: exactly what would run and why it asks, then approve, deny or answer.

Nothing but a word that says so approves: an empty line, a typing error or what was typed before the question does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from perdure.cli.lines import Span, because
from perdure.cli.text import as_json, counted, one_line, plain
from perdure.cli.waiting import Asked
from perdure.contracts.approvals import Question, RequestedCall
from perdure.contracts.requests import Answer, Approve, Deny

SHOWN_LINES = 20
"""Lines of one argument that are shown at first."""
SHOWN_CHARACTERS = 2_000

Response = Approve | Deny | Answer


class LineSource(Protocol):
    """Where typed lines come from."""

    async def next(self) -> str | None:
        """The next line; None when there is no more."""

    def forget(self) -> None:
        """Drop what was typed so far."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a person is asked. ``write`` shows text, ``actor`` is who answers."""

    lines: LineSource
    write: Callable[[Iterable[Span]], None]
    actor: str

    async def ask(self, asked: Asked) -> Response | None:
        """What the person says of ``asked``; None to leave it waiting."""
        self.lines.forget()
        if isinstance(asked, Question):
            return await self._answer(asked)
        return await self._decide(asked)

    async def message(self) -> str | None:
        """The next message of a conversation; None when the person has no more to say."""
        self.lines.forget()
        self.write((Span("Your next message (Ctrl-D closes the conversation)\n> ", "strong"),))
        while (line := await self.lines.next()) is not None:
            if line.strip():
                return line
            self.write((Span("> ", "strong"),))
        self.write((Span("\n"),))
        return None

    async def _decide(self, call: RequestedCall) -> Response | None:
        self.write(shown_call(call, everything=False))
        cut = is_cut(call)
        menu = f"[a]pprove, [d]eny, {'[v]iew all, ' if cut else ''}[l]eave it waiting? "
        while True:
            self.write((Span(menu, "strong"),))
            line = await self.lines.next()
            match "leave" if line is None else line.strip().lower():
                case "a" | "approve" | "y" | "yes":
                    return Approve(call_id=call.call_id, digest=call.digest, actor=self.actor)
                case "d" | "deny" | "n" | "no":
                    return await self._deny(call)
                case "v" | "view":
                    self.write(shown_call(call, everything=True))
                case "l" | "leave":
                    self.write((Span("Left waiting.\n", "quiet"),))
                    return None
                case _:
                    self.write((Span("Type a, d or l, then Enter.\n", "quiet"),))

    async def _deny(self, call: RequestedCall) -> Deny:
        self.write((Span("Reason, for the model to read (may be empty): ", "strong"),))
        reason = await self.lines.next()
        return Deny(call_id=call.call_id, digest=call.digest, reason=(reason or "").strip(), actor=self.actor)

    async def _answer(self, question: Question) -> Response | None:
        self.write(shown_question(question))
        while (line := await self.lines.next()) is not None:
            answer = answer_in(line, question)
            if answer is not None:
                return Answer(call_id=question.call_id, answer=answer, actor=self.actor)
            hint = f"a number from 1 to {len(question.options)}, or such a text" if question.options else "a text"
            hint = f"{hint}; several with commas" if question.multiple else hint
            self.write((Span(f"Type {hint} (Ctrl-D leaves it waiting): ", "strong"),))
        self.write((Span("\nLeft waiting.\n", "quiet"),))
        return None


def chosen(line: str, options: tuple[str, ...]) -> str | None:
    """The answer that ``line`` gives: an option by its text or number, any text when there are none, else None."""
    text = line.strip()
    if not options:
        return text or None
    if text in options:
        return text
    alike = [option for option in options if option.casefold() == text.casefold()]
    if alike:
        return alike[0]
    return options[int(text) - 1] if text.isdecimal() and 1 <= int(text) <= len(options) else None


def answer_in(line: str, question: Question) -> str | tuple[str, ...] | None:
    """The answer that ``line`` gives to the question; None when it is none. Several options are parted by commas."""
    if not (question.multiple and question.options):
        return chosen(line, question.options)
    several = [chosen(part, question.options) for part in line.split(",")]
    return tuple(dict.fromkeys(each for each in several if each is not None)) if None not in several else None


def shown_call(call: RequestedCall, *, everything: bool) -> tuple[Span, ...]:
    """The call as it would run: tool, every argument, and why it asks; long values cut unless ``everything``."""
    return (
        Span(f"\nMay this run? {one_line(call.tool, 200)} ({call.call_id})\n", "strong"),
        *shown_arguments(call, everything=everything, rest="v shows all"),
        Span(f"  why it asks: {because(call.verdict)}\n", "alert"),
    )


def shown_question(question: Question) -> tuple[Span, ...]:
    """The question, its options numbered."""
    return (
        Span(f"\nThe agent asks ({question.call_id}):\n", "strong"),
        *shown_options(question),
        Span("Your answer (several with commas): " if question.multiple else "Your answer: ", "strong"),
    )


def shown_options(question: Question) -> Iterator[Span]:
    """What is asked, and the options."""
    yield Span(f"  {_indented(plain(question.text))}\n")
    for number, option in enumerate(question.options, start=1):
        yield Span(f"  {number}. {one_line(option, 500)}\n")


def is_cut(call: RequestedCall) -> bool:
    """Whether `shown_call` leaves something out at first."""
    return any(_cut(_value_text(value)) != _value_text(value) for value in call.arguments.values())


def shown_arguments(call: RequestedCall, *, everything: bool, rest: str) -> Iterator[Span]:
    """Every argument as it would be given. Long values are cut unless ``everything``; ``rest`` says what shows all."""
    if not call.arguments:
        yield Span("  (no arguments)\n")
    for name, value in call.arguments.items():
        whole = _value_text(value)
        text = whole if everything else _cut(whole)
        if "\n" in text:
            yield Span(f"  {one_line(name, 200)}:\n    {_indented(text, '    ')}\n")
        else:
            yield Span(f"  {one_line(name, 200)}: {text}\n")
        if text != whole:
            lines = whole.count("\n") - text.count("\n")
            missing = counted(lines, "more line") if lines else counted(len(whole) - len(text), "more character")
            yield Span(f"    … {missing}: {rest}\n", "alert")


def _value_text(value: JsonValue) -> str:
    return plain(value if isinstance(value, str) else as_json(value))


def _cut(text: str) -> str:
    return "\n".join(text.split("\n")[:SHOWN_LINES])[:SHOWN_CHARACTERS]


def _indented(text: str, indent: str = "  ") -> str:
    return text.replace("\n", f"\n{indent}")
