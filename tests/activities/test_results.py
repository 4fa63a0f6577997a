from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from perdure.activities.results import MOST_BYTES, cut_text, failed_output, output_of
from perdure.contracts.errors import ToolError
from perdure.contracts.failures import MAX_MESSAGE
from perdure.contracts.tools import ToolOutput


class Person(BaseModel):
    name: str


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "text", "data"),
    [
        ("as it is\n", "as it is\n", None),
        ("", "", None),
        (None, "(no result)", None),
        (b"\xff\x00", "(binary data, 2 bytes: it has no text form)", None),
        (3, "3", 3),
        (True, "true", True),
        ({"ä": [1, None]}, '{"ä": [1, null]}', {"ä": [1, None]}),
        (Person(name="Ada"), '{"name": "Ada"}', {"name": "Ada"}),
        ([Point(1), Point(2)], '[{"x": 1}, {"x": 2}]', [{"x": 1}, {"x": 2}]),
        ((date(2024, 5, 14), Path("a/b")), '["2024-05-14", "a/b"]', ["2024-05-14", "a/b"]),
        (float("nan"), '"NaN"', "NaN"),
        (ToolOutput(text="said", data=1, status="error"), None, None),
    ],
)
def test_a_result_becomes_text_and_data(value: Any, text: str | None, data: Any) -> None:
    expected = value if isinstance(value, ToolOutput) else ToolOutput(text=text or "", data=data)

    assert output_of("tool", value) == expected


def test_a_result_without_a_json_form_is_an_error_that_names_its_type() -> None:
    circle: list[Any] = []
    circle.append(circle)

    for value, named in ((object(), "object"), (circle, "list"), ({"a": b"\xff"}, "dict")):
        output = output_of("draw", value)

        assert output.status == "error"
        assert output.text.startswith(f"draw returned a {named}, which has no JSON form (")
        assert "\n" not in output.text


def test_a_long_result_is_cut_at_a_character_with_a_note_on_what_is_missing() -> None:
    output = output_of("tool", "€" * 50_000)

    assert len(output.text.encode()) <= MOST_BYTES
    kept, _, note = output.text.rpartition("\n")
    assert set(kept) == {"€"}
    left_out = 150_000 - len(kept.encode())
    assert note == f"[Cut: {left_out:,} of 150,000 bytes are left out. Ask for a part to see more.]"


def test_a_result_of_exactly_the_limit_is_whole() -> None:
    assert output_of("tool", "x" * MOST_BYTES).text == "x" * MOST_BYTES
    assert output_of("tool", "x" * (MOST_BYTES + 1)).text.endswith("see more.]")


def test_data_beyond_the_limit_is_text_alone() -> None:
    output = output_of("tool", ["x" * 1000] * 100)

    assert output.data is None
    assert output.text.startswith('["xxx')
    assert output.text.endswith("see more.]")
    assert len(output.text.encode()) <= MOST_BYTES


def test_data_beyond_the_limit_does_not_replace_a_text_of_its_own() -> None:
    assert output_of("tool", ToolOutput(text="said", data=["x" * 100_000])) == ToolOutput(text="said")


def test_a_lone_surrogate_does_not_make_a_result_that_cannot_be_recorded() -> None:
    for value in ("a\udcffb", ["a\udcffb"], ToolOutput(text="a\udcffb", data={"k": "a\udcffb"})):
        recorded = output_of("tool", value).model_dump_json()

        assert "a?b" in recorded


@given(st.text(st.characters(codec="utf-8"), max_size=400), st.integers(120, 300))
def test_a_cut_text_is_a_prefix_that_fits(text: str, most: int) -> None:
    cut = cut_text(text, most)

    assert len(cut.encode()) <= max(most, len(text.encode()) if len(text.encode()) <= most else 0)
    assert cut == text or text.startswith(cut.rpartition("\n[Cut: ")[0])


def test_a_cut_can_count_what_was_never_read() -> None:
    assert "of 10,000 bytes are left out" in cut_text("abc", 1000, whole_bytes=10_000)


def test_a_tool_error_speaks_for_itself() -> None:
    assert failed_output("tool", ToolError("There is no such row.")) == ToolOutput(
        status="error", text="There is no such row."
    )


def test_an_exception_is_one_sentence_with_its_type_and_no_traceback() -> None:
    assert failed_output("sum_up", ValueError("not\n  a number")).text == "sum_up failed: ValueError: not a number"
    assert failed_output("sum_up", KeyError()).text == "sum_up failed: KeyError"
    assert failed_output("sum_up", SystemExit(3)).text == "sum_up failed: SystemExit: 3"
    assert "cancelled" in failed_output("sum_up", asyncio.CancelledError()).text


def test_an_endless_exception_is_bounded() -> None:
    output = failed_output("tool", ValueError("x" * 100_000))

    assert len(output.text) <= MAX_MESSAGE
    assert json.loads(output.model_dump_json())["status"] == "error"
