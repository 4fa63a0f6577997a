from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from pydantic import JsonValue

from perdure.contracts.messages import AssistantMessage, HostedPart, Opaque, ReasoningPart, TextPart
from perdure.providers.anthropic_blocks import MOST_SHOWN, OpenBlock, shown
from tests.providers.anthropic_serving import MODEL, ORIGIN, Json
from tests.providers.serving import assembled


def grown(content: Json, *deltas: Json) -> tuple[Json, AssistantMessage]:
    """The whole block, and the message that its pieces make."""
    block = OpenBlock(content, ORIGIN, 0)
    pieces = [*block.begin(), *(piece for delta in deltas for piece in block.add(delta)), *block.end()]
    return block.content, assembled(pieces, MODEL)


def texts(kind: str, pieces: Iterable[str]) -> list[Json]:
    return [{"type": f"{kind}_delta", kind: piece} for piece in pieces]


def test_text_grows_and_keeps_its_citations() -> None:
    citation = {"type": "web_search_result_location", "url": "https://x.example", "encrypted_index": "e"}
    content, message = grown(
        {"type": "text", "text": "", "citations": []},
        *texts("text", ("a", "b")),
        {"type": "citations_delta", "citation": citation},
    )
    assert content == {"type": "text", "text": "ab", "citations": [citation]}
    opaque = Opaque(origin=ORIGIN, data={"citations": [citation]})
    assert message.parts == (TextPart(text="ab", opaque=opaque),)


def test_text_that_starts_with_something_keeps_it_and_plain_text_keeps_nothing_else() -> None:
    content, message = grown({"type": "text", "text": "a", "citations": None}, *texts("text", ("b",)))
    assert content["text"] == "ab"
    assert message.parts == (TextPart(text="ab"),)


def test_thinking_is_kept_with_its_signature_to_the_byte() -> None:
    _, message = grown(
        {"type": "thinking", "thinking": "", "signature": ""},
        *texts("thinking", ("h", "m")),
        {"type": "signature_delta", "signature": "EqQB+/="},
    )
    opaque = Opaque(origin=ORIGIN, data={"type": "thinking", "signature": "EqQB+/="})
    assert message.parts == (ReasoningPart(text="hm", opaque=opaque),)


def test_thinking_whose_text_is_withheld_keeps_its_signature() -> None:
    _, message = grown(
        {"type": "thinking", "thinking": "", "signature": ""}, {"type": "signature_delta", "signature": "s"}
    )
    assert message.parts == (ReasoningPart(opaque=Opaque(origin=ORIGIN, data={"type": "thinking", "signature": "s"})),)


def test_redacted_thinking_comes_whole_and_is_kept_whole() -> None:
    _, message = grown({"type": "redacted_thinking", "data": "b64"})
    opaque = Opaque(origin=ORIGIN, data={"type": "redacted_thinking", "data": "b64"})
    assert message.parts == (ReasoningPart(opaque=opaque),)


@pytest.mark.parametrize(
    ("given", "pieces", "arguments"),
    [
        ({}, ("",), {}),
        ({}, ("", '{"a":', " 1}"), {"a": 1}),
        ({"a": 1}, (), {"a": 1}),
        ('{"a": 1}', (), {"a": 1}),
        (None, ("{}",), {}),
        ({}, ('{"a": ',), None),
    ],
)
def test_arguments_come_in_pieces_or_whole_or_not_at_all(
    given: object, pieces: tuple[str, ...], arguments: Json | None
) -> None:
    content, message = grown(
        {"type": "tool_use", "id": "toolu_1", "name": "read", **({} if given is None else {"input": given})},
        *({"type": "input_json_delta", "partial_json": piece} for piece in pieces),
    )
    (call,) = message.calls
    assert (call.tool, call.provider_call_id, call.arguments, call.opaque) == ("read", "toolu_1", arguments, None)
    assert arguments is None or not pieces or content["input"] == arguments


def test_a_call_keeps_who_made_it() -> None:
    caller = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
    _, message = grown({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}, "caller": caller})
    assert message.calls[0].opaque == Opaque(origin=ORIGIN, data={"caller": caller})


def test_what_the_provider_ran_is_kept_whole_with_the_input_that_came_in_pieces() -> None:
    whole = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "s", "input": {"a": "é"}}
    content, message = grown(
        {**whole, "input": {}},
        {"type": "input_json_delta", "partial_json": '{"a":'},
        {"type": "input_json_delta", "partial_json": ' "é"}'},
    )
    assert content == whole
    assert message.parts == (
        HostedPart(tool="mcp_tool_use", name="echo", text='{"a": "é"}', opaque=Opaque(origin=ORIGIN, data=whole)),
    )


def test_a_block_of_an_unknown_kind_grows_by_its_fields_and_is_kept_whole() -> None:
    content, message = grown(
        {"type": "compaction", "content": None, "encrypted_content": None},
        {"type": "compaction_delta", "content": "Summary ", "encrypted_content": "old"},
        {"type": "compaction_delta", "content": "whole", "encrypted_content": "new"},
        {"type": "text_delta", "text": "x"},
    )
    assert content == {"type": "compaction", "content": "Summary whole", "encrypted_content": "new", "text": "x"}
    (part,) = message.parts
    assert isinstance(part, HostedPart)
    assert (part.tool, part.opaque.data) == ("compaction", content)


def test_halves_of_a_character_that_come_apart_are_joined() -> None:
    _, message = grown({"type": "text", "text": ""}, *texts("text", ("\ud83c", "\udf89", "\ud83c")))
    assert message.text == "🎉\ufffd"


def test_a_person_reads_what_was_asked_and_what_was_found() -> None:
    found: JsonValue = [
        {"type": "web_search_result", "title": "T", "url": "https://x.example", "encrypted_content": "secret"}
    ]
    assert shown({"input": {"query": "é"}}) == '{"query": "é"}'
    assert shown({"content": found}) == "T https://x.example"
    assert shown({"content": {"type": "bash_code_execution_result", "stdout": "3\n", "stderr": ""}}) == "3\n"
    assert shown({"content": {"type": "web_search_tool_result_error", "error_code": "max_uses"}}) == "max_uses"
    assert shown({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}) == "a\nb"
    page: JsonValue = {"type": "document", "title": "T", "source": {"type": "text", "data": "…"}}
    assert shown({"content": {"type": "web_fetch_result", "url": "https://x.example", "content": page}}) == (
        "https://x.example\nT"
    )
    assert shown({"content": "plain"}) == "plain"
    assert shown({"data": "x"}) == ""
    assert len(shown({"content": json.dumps(["x" * 9_000])})) == MOST_SHOWN
