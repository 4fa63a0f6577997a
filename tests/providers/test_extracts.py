from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.providers.extracts import MOST_TEXT, extract, sentences_of


def test_the_first_heading_is_the_title_and_the_others_are_named() -> None:
    found = extract("intro line here\n\n# **Tide** gauges #\n\ntext\n\n## Where\n## Who\n", "a.md")
    assert found.title == "Tide gauges"
    assert found.remark == "Sections: Where, Who"


def test_a_text_without_headings_has_its_first_line_as_title() -> None:
    assert extract("\n\nOpen questions\n\nWho is called at night by the alarm?\n").title == "Open questions"


def test_sentences_are_found_in_paragraphs_and_lists_and_not_in_tables() -> None:
    text = """# Heading that is long enough to count

The first sentence goes
over two lines. A second one stands here!

- an item of four words
1. another item of five words

| a cell | with four | words in it |
|---|---|---|

***
"""
    assert sentences_of(text) == [
        "The first sentence goes over two lines.",
        "A second one stands here!",
        "an item of four words",
        "another item of five words",
    ]


def test_the_sentences_keep_the_texts_own_order() -> None:
    text = "The gauge was mounted. Nothing else of note happened today. The gauge reports, and the gauge is dry."
    sentences = extract(text).sentences
    assert list(sentences) == sorted(sentences, key=text.index)


@pytest.mark.parametrize(
    ("name", "text", "remark"),
    [
        ("a.csv", "day,level\n1,30\n2,31\n", "A table of 2 rows: day, level"),
        ("a.tsv", "day\tlevel\n1\t30\n", "A table of 1 rows: day, level"),
        ("a.json", '{"name": 1, "size": 2}', "A JSON object with name, size"),
        ("a.json", "[1, 2, 3]", "A JSON list of 3"),
        ("a.json", "[1, 2", "JSON, not whole or not valid"),
        ("a.py", "def one():\n    pass\n\nclass Two:\n    pass\n", "Defines one, Two"),
        ("a.md", "| a | b |\n|---|---|\n| 1 | 2 |\n", "A table of 1 rows: a, b"),
    ],
)
def test_what_is_no_prose_is_described_by_its_form(name: str, text: str, remark: str) -> None:
    assert extract(text, name).remark == remark


def test_the_opening_comment_of_code_is_its_sentence() -> None:
    assert extract('#!/usr/bin/env python\n"""Counts the waves."""\n', "a.py").sentences == ("Counts the waves.",)


def test_words_and_lines_are_counted() -> None:
    found = extract("one two\nthree\n")
    assert (found.words, found.lines) == (3, 2)


@given(st.text(), st.sampled_from(["", "a.md", "a.csv", "a.json", "a.py"]))
def test_any_text_has_an_extract_of_bounded_size(text: str, name: str) -> None:
    found = extract(text * 3, name)
    assert sum(map(len, found.sentences)) <= 900
    assert found.words <= MOST_TEXT
