from __future__ import annotations

from io import StringIO

import pytest

from perdure.cli.lines import Span
from perdure.cli.screen import Screen


class FakeTerminal(StringIO):
    def isatty(self) -> bool:
        return True


def coloured() -> str:
    out = FakeTerminal()
    Screen(out, StringIO()).write([Span("failed", "bad"), Span(" x", "strong"), Span(" y\n", "quiet")])
    return out.getvalue()


def test_text_is_written_exactly_as_it_is() -> None:
    out = StringIO()
    long = "word " * 100 + "[bold]no markup[/bold] :smile: {'a': 1}  \n"

    Screen(out, StringIO()).write([Span(long), Span("end ", "bad")])

    assert out.getvalue() == long + "end "


def test_a_pipe_gets_no_colours() -> None:
    out = StringIO()

    Screen(out, StringIO()).write([Span("failed\n", "bad")])

    assert out.getvalue() == "failed\n"


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)

    assert "\x1b[31mfailed\x1b[0m" in coloured()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colours_gets_plain_text(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv(name, value)

    assert coloured() == "failed x y\n"


def test_what_is_written_while_a_question_stands_is_shown_after_it() -> None:
    out, err = StringIO(), StringIO()
    screen = Screen(out, err)

    screen.hold()
    screen.write([Span("meanwhile\n")])
    screen.ask([Span("May this run? ")])
    held = out.getvalue()
    screen.release()
    screen.write([Span("later\n")])

    assert held == ""
    assert err.getvalue() == "May this run? "
    assert out.getvalue() == "meanwhile\nlater\n"
