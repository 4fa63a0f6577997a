from __future__ import annotations

from typing import Any

import pytest

from perdure.contracts.errors import BadRequestError
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    AudioPart,
    CallPart,
    FilePart,
    HostedPart,
    ImagePart,
    Opaque,
    ReasoningPart,
    TextPart,
    UserPart,
)
from perdure.contracts.prompts import ModelRequest
from perdure.providers.anthropic_parts import AssistantBlocks, user_block
from perdure.providers.tool_names import ToolNames
from tests.providers.anthropic_serving import MODEL, ORIGIN

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted_content": "e"}]}


def sent(*parts: AssistantPart, model: str = MODEL, later: tuple[AssistantPart, ...] = (), **fields: Any) -> list[Any]:
    """The blocks of a message of these parts when ``model`` is asked; ``later`` are those of a message after it."""
    message = AssistantMessage(message_id="t1s1", parts=parts, model=MODEL, **fields)
    after = AssistantMessage(message_id="t1s2", parts=later, model=MODEL)
    request = ModelRequest(model=model, messages=(message, after))
    return [*AssistantBlocks(request, ORIGIN, ToolNames(()), {}).of(message)]


def hosted(block: dict[str, Any], origin: str = ORIGIN) -> HostedPart:
    return HostedPart(tool=block["type"], opaque=Opaque(origin=origin, data=block))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (TextPart(text="a"), {"type": "text", "text": "a"}),
        (TextPart(text=" \n"), None),
        (
            ImagePart(url="https://x.example/a.png"),
            {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}},
        ),
        (
            ImagePart(media_type="image/jpeg", data=b"abc"),
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "YWJj"}},
        ),
        (
            FilePart(media_type="application/pdf", name="a.pdf", data=b"abc"),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "YWJj"},
                "title": "a.pdf",
            },
        ),
        (
            FilePart(media_type="application/pdf", url="https://x.example/a.pdf"),
            {"type": "document", "source": {"type": "url", "url": "https://x.example/a.pdf"}},
        ),
        (
            FilePart(media_type="text/csv", name="a.csv", data=b"x,y"),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "x,y"},
                "title": "a.csv",
            },
        ),
    ],
)
def test_what_a_user_gives_has_its_block(part: UserPart, expected: dict[str, Any] | None) -> None:
    assert user_block(part, "anthropic") == expected


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (AudioPart(media_type="audio/wav", data=b"a"), "audio/wav"),
        (ImagePart(media_type="image/tiff", data=b"a"), "image/tiff"),
        (FilePart(media_type="application/zip", data=b"a"), "application/zip data"),
        (FilePart(media_type="text/csv", url="https://x.example/a.csv"), "text/csv by address"),
    ],
)
def test_what_the_protocol_cannot_carry_is_refused_by_name(part: UserPart, named: str) -> None:
    with pytest.raises(BadRequestError, match=named):
        user_block(part, "anthropic")


def test_thinking_goes_back_verbatim_to_the_model_that_thought_it_and_to_no_other() -> None:
    signed = Opaque(origin=ORIGIN, data={"type": "thinking", "signature": "EqQB+/="})
    redacted: dict[str, Any] = {"type": "redacted_thinking", "data": "b64"}
    parts = (
        ReasoningPart(text="hm", opaque=signed),
        ReasoningPart(opaque=signed),
        ReasoningPart(opaque=Opaque(origin=ORIGIN, data=redacted)),
        TextPart(text="a"),
    )
    text = {"type": "text", "text": "a"}
    assert sent(*parts) == [
        {"type": "thinking", "thinking": "hm", "signature": "EqQB+/="},
        {"type": "thinking", "thinking": "", "signature": "EqQB+/="},
        redacted,
        text,
    ]
    assert sent(*parts, model="anthropic:claude-opus-4-1") == [text]


def test_thinking_without_a_signature_or_of_another_origin_stays_away() -> None:
    foreign = Opaque(origin="openai-responses:api.openai.com", data={"type": "reasoning", "encrypted_content": "e"})
    assert sent(ReasoningPart(text="hm"), ReasoningPart(text="hm", opaque=foreign)) == []


def test_thinking_that_a_server_signs_with_nothing_goes_back_unless_it_was_cut() -> None:
    unsigned = ReasoningPart(text="hm", opaque=Opaque(origin=ORIGIN, data={"type": "thinking", "signature": ""}))
    assert sent(unsigned) == [{"type": "thinking", "thinking": "hm", "signature": ""}]
    assert sent(unsigned, finish="length") == []


def test_text_goes_back_with_its_citations_to_its_origin() -> None:
    citations: list[Any] = [{"type": "web_search_result_location", "encrypted_index": "e"}]
    cited = TextPart(text="a", opaque=Opaque(origin=ORIGIN, data={"citations": citations}))
    foreign = TextPart(text="b", opaque=Opaque(origin="gemini:x", data={"thoughtSignature": "s"}))
    assert sent(cited, foreign) == [
        {"type": "text", "text": "a", "citations": citations},
        {"type": "text", "text": "b"},
    ]


def test_a_call_goes_back_with_its_caller_and_arguments_that_are_always_an_object() -> None:
    caller: dict[str, Any] = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
    good = CallPart(
        call_id="t1s1c1", tool="read", arguments={"a": 1.0}, opaque=Opaque(origin=ORIGIN, data={"caller": caller})
    )
    bad = CallPart(call_id="t1s1c2", tool="read", arguments_text='{"a', arguments=None)
    assert sent(good, bad) == [
        {"type": "tool_use", "id": "t1s1c1", "name": "read", "input": {"a": 1.0}, "caller": caller},
        {"type": "tool_use", "id": "t1s1c2", "name": "read", "input": {"invalid_json": '{"a'}},
    ]


def test_what_the_provider_ran_goes_back_as_it_came_and_to_its_origin_alone() -> None:
    assert sent(hosted(SEARCH), hosted(FOUND)) == [SEARCH, FOUND]
    assert sent(hosted(SEARCH, "anthropic:elsewhere.example"), TextPart(text="a")) == [{"type": "text", "text": "a"}]


@pytest.mark.parametrize("finish", ["interrupted", "length", "refused"])
def test_a_step_of_the_providers_that_was_cut_off_from_its_result_is_left_out(finish: str) -> None:
    assert sent(TextPart(text="a"), hosted(SEARCH), finish=finish) == [{"type": "text", "text": "a"}]
    assert sent(hosted(SEARCH), hosted(FOUND), finish=finish) == [SEARCH, FOUND]


def test_a_step_whose_result_comes_in_a_later_message_stays() -> None:
    assert sent(hosted(SEARCH), finish="calls") == [SEARCH]
    assert sent(hosted(SEARCH), later=(hosted(FOUND),), finish="length") == [SEARCH]


def test_pictures_of_the_models_own_are_mentioned() -> None:
    assert sent(ImagePart(data=b"a")) == [{"type": "text", "text": "[image]"}]
