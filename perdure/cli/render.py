"""Events as text. Pure: events go in, pieces of text with a style come out, and nothing is printed here.

Live text and the recorded message say the same thing twice, pieces may come late, and a retry starts over. What was
already written is therefore remembered per message and attempt, so that every character is written once, and a second
attempt is seen as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import JsonValue

from perdure.cli.lines import Span, lines
from perdure.cli.text import as_json, plain
from perdure.contracts.events import (
    AnyEvent,
    Event,
    ModelAnswered,
    ModelGaveUp,
    RunBegan,
    RunClosed,
    TextArrived,
    TurnEnded,
)


@dataclass(slots=True)
class Writing:
    """What of one message is on the screen, by channel. ``gap``: some of its live text was missed."""

    attempt: int
    written: dict[str, str] = field(default_factory=dict)
    gap: bool = False


class Renderer:
    """Turns the events of a run into text, in the order in which they come. Feed it each event once."""

    def __init__(self, model: str = "") -> None:
        """``model`` is the run's own, where no event is going to say it."""
        self._model = model
        self._writings: dict[str, Writing] = {}
        self._answered: set[str] = set()
        self._open_line: tuple[str, str] | None = None
        self._last_text = ""
        self.failures: set[str] = set()

    def feed(self, event: AnyEvent) -> tuple[Span, ...]:
        """The text that ``event`` adds."""
        match event:
            case TextArrived():
                return tuple(self._piece(event))
            case ModelAnswered():
                return tuple(self._answer(event))
            case RunBegan(path=()):
                self._model = event.model
                return tuple(self._whole_lines(event))
            case RunClosed():
                return tuple(self._closing(event))
            case ModelGaveUp():
                self.failures.add(event.failure.message)
                return tuple(self._whole_lines(event))
            case TurnEnded():
                return tuple(self._turn(event))
            case _:
                return tuple(self._whole_lines(event))

    def data(self, data: JsonValue) -> Iterator[Span]:
        """The output of a turn as an object, below the text that it was read from."""
        text = as_json(data, indent=2)
        if data is not None and text != self._last_text.strip():
            yield from self.end_line()
            yield Span(plain(text) + "\n")

    def end_line(self) -> tuple[Span, ...]:
        """Ends the line that is being written, if any: before something else is shown."""
        if self._open_line is None:
            return ()
        self._open_line = None
        return (Span("\n"),)

    def _whole_lines(self, event: AnyEvent) -> Iterator[Span]:
        for line in lines(event):
            yield from self.end_line()
            yield from _source(event)
            yield Span(line.text + "\n", line.style)

    def _piece(self, event: TextArrived) -> Iterator[Span]:
        key = f"{event.run_id}/{event.message_id}"
        writing = self._writings.setdefault(key, Writing(event.attempt))
        if key in self._answered or event.attempt < writing.attempt:
            return
        if event.attempt > writing.attempt:
            yield from self._restart(writing, event.attempt)
        written = writing.written.get(event.channel, "")
        missing = event.offset - len(written)
        fresh = event.text if missing >= 0 else event.text[-missing:]
        if not fresh:
            return
        yield from self._continue(event, key, event.channel)
        if missing > 0:
            writing.gap = True
            yield Span("…", "quiet")
        writing.written[event.channel] = written + " " * max(missing, 0) + fresh
        yield Span(plain(fresh), "quiet" if event.channel == "reasoning" else "plain")

    def _restart(self, writing: Writing, attempt: int) -> Iterator[Span]:
        if any(writing.written.values()):
            yield from self.end_line()
            yield Span(f"(attempt {writing.attempt} broke off and is void; attempt {attempt} starts again)\n", "alert")
        writing.attempt = attempt
        writing.written.clear()
        writing.gap = False

    def _continue(self, event: Event, key: str, channel: str) -> Iterator[Span]:
        if self._open_line == (key, channel):
            return
        yield from self.end_line()
        self._open_line = (key, channel)
        yield from _source(event)
        if channel == "reasoning":
            yield Span("(thinking) ", "quiet")

    def _answer(self, event: ModelAnswered) -> Iterator[Span]:
        message = event.message
        key = f"{event.run_id}/{message.message_id}"
        writing = self._writings.setdefault(key, Writing(message.attempt))
        self._answered.add(key)
        if message.attempt != writing.attempt:
            yield from self._restart(writing, message.attempt)
        written = writing.written.get("text", "")
        rest = message.text.removeprefix(written)
        if writing.gap or not message.text.startswith(written):
            yield from self.end_line()
            yield Span("(some of the live text was missed; the whole answer:)\n", "quiet")
            rest = message.text
        if rest:
            yield from self._continue(event, key, "text")
            yield Span(plain(rest))
        writing.written.clear()
        if message.text and not event.path:
            self._last_text = message.text
        yield from self.end_line()
        if self._model not in ("", message.model) and message.parts and not event.path:
            yield Span(f"(answered by the fallback {plain(message.model)})\n", "quiet")
        yield from self._whole_lines(event)

    def _turn(self, event: TurnEnded) -> Iterator[Span]:
        if not event.path and event.data is not None:
            yield from self.data(event.data)
            self._last_text = event.output
        known = event.failure and event.failure.message in self.failures
        yield from self._whole_lines(event.model_copy(update={"failure": None}) if known else event)

    def _closing(self, event: RunClosed) -> Iterator[Span]:
        # The output is the last text of the model, which stands there already; reasoning alone may be the answer too.
        if event.output and event.output != self._last_text and not event.path:
            yield from self.end_line()
            yield Span(plain(event.output) + "\n")


def _source(event: Event) -> Iterator[Span]:
    if event.path:
        yield Span(f"[{plain('/'.join(event.path))}] ", "quiet")
