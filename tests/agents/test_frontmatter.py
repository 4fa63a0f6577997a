from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.agents.frontmatter import Head, PlacedError, read_head


def test_a_head_is_taken_apart_from_the_text_below_it() -> None:
    head = read_head("---\nname: anna\n---\n\nYou are Anna.\n\n---\nNot a head.\n")

    assert head.values == {"name": "anna"}
    assert head.body == "You are Anna.\n\n---\nNot a head."


@pytest.mark.parametrize("text", ["Just a prompt.\n", "\n---\nname: x\n---\n", " ---\n"])
def test_a_text_that_does_not_start_with_a_fence_has_no_head(text: str) -> None:
    assert read_head(text) == Head({}, text.strip())


@pytest.mark.parametrize("text", ["", "---\n---\n", "---\n# nothing\n---\n"])
def test_an_empty_head_says_nothing(text: str) -> None:
    assert read_head(text).values == {}


def test_windows_line_ends_are_line_ends() -> None:
    head = read_head("---\r\nname: anna\r\n---\r\nHej\r\n")

    assert (head.values, head.body) == ({"name": "anna"}, "Hej")


def test_every_key_and_value_has_its_place() -> None:
    head = read_head("---\nname: anna\ntools:\n  - read_file\n  - list_dir\nlimits: {steps: 3}\n---\n")

    assert head.key_places[("limits", "steps")] == (6, 10)
    assert head.place(("name",)) == (2, 7)
    assert head.place(("tools", 1)) == (5, 5)
    assert head.place(("limits", "steps")) == (6, 17)
    assert head.place(("limits", "steps", "deeper")) == (6, 17)
    assert head.place(("unknown",)) == (2, 1)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("---\nname: x\n", (1, 1), "never closed"),
        ("---\nname: x\ntools: [a\n---\n", (4, 1), "no valid YAML"),
        ("---\nname: x: y\n---\n", (2, 8), "mapping values are not allowed"),
        ("---\n\tname: x\n---\n", (2, 1), "no valid YAML"),
        ("---\n- a\n---\n", (2, 1), "lines of `key: value`"),
        ("---\nname: a\nmodel: b\nname: c\n---\n", (4, 1), "'name' is there twice"),
        ("---\n? [a]\n: b\n---\n", (2, 3), "unhashable key"),
        (f"---\na: {'x' * 40_000}\n---\n", (1, 1), "the prompt belongs below it"),
        ("---\na: 2024-99-01\n---\n", (1, 1), "month must be"),
        ("---\na: &x [1]\nb: *x\n---\n", (3, 4), "Aliases"),
        ("---\na: \0\n---\n", (1, 1), "no valid YAML"),
        ("---\na: !!python/object:os.system x\n---\n", (2, 4), "could not determine a constructor"),
        ("---\na: " + "[" * 5000 + "]" * 5000 + "\n---\n", (2, 23), "nested too deeply"),
    ],
)
def test_a_head_that_cannot_be_used_is_told_with_its_place(text: str, place: tuple[int, int], said: str) -> None:
    with pytest.raises(PlacedError, match=said) as raised:
        read_head(text)

    assert raised.value.place == place
    assert "\n" not in str(raised.value)


@given(st.text(alphabet="-\n:[]{}&*!#'\" ab1?|>%@`\t\r", max_size=80))
def test_whatever_stands_there_is_a_head_or_a_placed_mistake(text: str) -> None:
    with contextlib.suppress(PlacedError):
        assert isinstance(read_head(f"---\n{text}\n---\nprompt").values, dict)
