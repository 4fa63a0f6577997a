from __future__ import annotations

from typing import Any

import pytest

from perdure.contracts.messages import Opaque, ReasoningPart, TextPart
from perdure.providers.openai_responses_items import (
    done_in,
    message_item,
    message_kept,
    reasoning_item,
    reasoning_kept,
    thought_in,
)
from tests.providers.responses_serving import message, reasoning

CITED = {"type": "output_text", "text": "Hi", "annotations": [{"type": "url_citation", "url": "https://x.example"}]}


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}],
        [CITED, {"type": "refusal", "refusal": "No."}],
        [{"type": "output_text", "text": ""}],
        [{"type": "a_new_content", "text": "Hi"}],
    ],
)
def test_a_message_comes_back_as_it_was(content: list[dict[str, Any]]) -> None:
    item = {**message("", phase="final_answer"), "content": content}
    texts = [str(part.get("refusal", part.get("text") if part["type"] != "a_new_content" else "")) for part in content]
    parts = [
        (TextPart(text=text), message_kept("o", item, part, text)) for text, part in zip(texts, content, strict=True)
    ]
    assert message_item(parts) == item
    assert all(text not in str(opaque.data) for text, (_, opaque) in zip(texts, parts, strict=True) if text == "No.")


def test_a_text_that_differs_from_what_was_shown_is_kept_beside_it() -> None:
    item = message("Hi")
    part = TextPart(text="Hi\n")
    assert message_item([(part, message_kept("o", item, item["content"][0], part.text))]) == item


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (reasoning(), ""),
        (reasoning("hm"), "hm"),
        (reasoning("hm"), "reworded"),
        ({**reasoning("One."), "summary": [{"type": "summary_text", "text": "One."}] * 2}, "One.\n\nOne."),
        ({**reasoning(), "content": [{"type": "reasoning_text", "text": "hm"}], "encrypted_content": ""}, "hm"),
    ],
)
def test_reasoning_comes_back_to_the_byte(item: dict[str, Any], text: str) -> None:
    kept = reasoning_kept("o", item, text)
    assert reasoning_item(ReasoningPart(text=text), kept) == item
    if text == "hm" and text == thought_in(item):
        assert "hm" not in str(kept.data), "one text is not kept twice"


@pytest.mark.parametrize("item", [reasoning("hm", encrypted=None), {**reasoning("hm"), "encrypted_content": ""}])
def test_reasoning_that_is_an_id_alone_does_not_go_back(item: dict[str, Any]) -> None:
    assert reasoning_item(ReasoningPart(text="hm"), reasoning_kept("o", item, "hm")) == {}


def test_fields_that_are_null_stay_away() -> None:
    item = {**reasoning(), "status": None, "content": None}
    assert reasoning_item(ReasoningPart(), Opaque(origin="o", data={"item": item})) == reasoning()


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ({"type": "web_search_call", "action": {"type": "search", "query": "x", "queries": ["x", "y"]}}, "x"),
        ({"type": "web_search_call", "action": {"type": "open_page", "url": "https://x.example"}}, "https://x.example"),
        ({"type": "file_search_call", "queries": ["x", "y"], "results": None}, "x; y"),
        ({"type": "code_interpreter_call", "code": "1 + 1", "outputs": []}, "1 + 1"),
        ({"type": "mcp_call", "name": "ask", "arguments": "{}", "output": "long"}, "{}"),
        ({"type": "custom_tool_call", "input": "ls"}, "ls"),
        ({"type": "image_generation_call", "revised_prompt": "a cat", "result": "b64"}, "a cat"),
        ({"type": "compaction", "encrypted_content": "gAAA"}, ""),
        ({"type": "mcp_call", "arguments": "x" * 900}, "x" * 499 + "…"),
    ],
)
def test_what_a_provider_did_is_told_in_a_line(item: dict[str, Any], said: str) -> None:
    assert done_in(item) == said
