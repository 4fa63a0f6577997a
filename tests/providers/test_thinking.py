from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.providers.thinking import ThinkTags


def split(*pieces: str) -> tuple[str, str]:
    tags = ThinkTags()
    shares = [share for piece in pieces for share in tags.feed(piece)] + tags.end()
    return tuple("".join(text for kind, text in shares if kind == wanted) for wanted in ("reasoning", "text"))  # type: ignore[return-value] # two of them


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>hm</think>\n\nYes.", "hm", "Yes."),
        ("\n <think>\nhm\n</think>Yes.", "\nhm\n", "Yes."),
        ("Yes.", "", "Yes."),
        ("  Yes.", "", "  Yes."),
        ("Use <think>x</think> tags.", "", "Use <think>x</think> tags."),
        ("<thin", "", "<thin"),
        ("<thinking>no", "", "<thinking>no"),
        ("<think>cut </thi", "cut </thi", ""),
        ("<think></think>Yes.", "", "Yes."),
        ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("", "", ""),
    ],
)
def test_reasoning_at_the_head_is_told_from_the_text_however_it_is_cut(text: str, reasoning: str, answer: str) -> None:
    assert split(text) == split(*text) == (reasoning, answer)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "a", " ", "\n"]), max_size=10), st.data())
def test_nothing_depends_on_where_the_pieces_were_cut(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    place = data.draw(st.integers(0, len(text)))
    assert split(text[:place], text[place:]) == split(text) == split(*text)
