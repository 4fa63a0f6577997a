from __future__ import annotations

import json

import pytest

from perdure.contracts.errors import BadReplyError, BadRequestError, ProviderError
from perdure.contracts.messages import CallPart, HostedPart, ImagePart, Opaque, ReasoningPart, TextPart
from perdure.contracts.usage import Usage
from perdure.providers.stream import Piece, UsagePiece
from tests.providers.gemini_messages import ORIGIN
from tests.providers.gemini_serving import answer, called, chunk, events, serving, text
from tests.providers.serving import pieces_of, replying

COUNTS = {
    "promptTokenCount": 10,
    "toolUsePromptTokenCount": 5,
    "cachedContentTokenCount": 4,
    "candidatesTokenCount": 6,
    "thoughtsTokenCount": 7,
    "totalTokenCount": 28,
}


def opaque(**data: object) -> Opaque:
    return Opaque.model_validate({"origin": ORIGIN, "data": data})


async def test_a_streamed_answer_becomes_one_message() -> None:
    stream = events(
        chunk(text("Hm", thought=True), usage={"promptTokenCount": 10}),
        chunk(text("m.", thought=True)),
        chunk(text("I ")),
        chunk(text("look.")),
        chunk(called("read", {"path": "ä"}, "xyz", thoughtSignature="c2ln"), called("list", {})),
        chunk(text("", thoughtSignature="ZW5k"), finish="STOP", usage=COUNTS),
    )
    message = await answer(replying(stream))
    assert message.parts == (
        ReasoningPart(text="Hmm."),
        TextPart(text="I look."),
        CallPart(
            call_id="t1s1c1",
            tool="read",
            arguments_text='{"path": "ä"}',
            arguments={"path": "ä"},
            provider_call_id="xyz",
            opaque=opaque(thoughtSignature="c2ln"),
        ),
        CallPart(call_id="t1s1c2", tool="list"),
        TextPart(text="", opaque=opaque(thoughtSignature="ZW5k")),
    )
    assert message.finish == "calls"
    assert message.usage == Usage(requests=1, input_tokens=15, cached_tokens=4, output_tokens=13, reasoning_tokens=7)
    assert message.provider_message_id == "r-1"


async def test_signed_and_unsigned_text_are_never_joined() -> None:
    stream = events(
        chunk(text("a")),
        chunk(text("b", thoughtSignature="MQ==")),
        chunk(text("c")),
        chunk(text("d", thought=True), text("e", thought=True, thoughtSignature="Mg==")),
        chunk(text("", thoughtSignature="Mw=="), finish="STOP"),
    )
    message = await answer(replying(stream))
    assert message.parts == (
        TextPart(text="a"),
        TextPart(text="b", opaque=opaque(thoughtSignature="MQ==")),
        TextPart(text="c"),
        ReasoningPart(text="d"),
        ReasoningPart(text="e", opaque=opaque(thoughtSignature="Mg==")),
        TextPart(text="", opaque=opaque(thoughtSignature="Mw==")),
    )


@pytest.mark.parametrize("form", ["events", "array", "whole"])
async def test_a_reply_is_read_in_any_of_its_forms(form: str) -> None:
    value = chunk(text("Hi"), called("read", {"path": "a"}), finish="STOP", usage=COUNTS)
    body = {"events": events(value), "array": json.dumps([value]).encode(), "whole": json.dumps(value).encode()}[form]
    message = await answer(replying(body, headers={"content-type": "application/json"}))
    assert (message.text, message.finish, message.usage.input_tokens) == ("Hi", "calls", 15)


async def test_the_last_usage_counts() -> None:
    stream = events(
        chunk(text("a"), usage={"promptTokenCount": 10, "candidatesTokenCount": 50}),
        chunk(text("b"), finish="STOP", usage={"promptTokenCount": 12, "candidatesTokenCount": 2}),
    )
    usage = (await answer(replying(stream))).usage
    assert (usage.input_tokens, usage.output_tokens) == (12, 2)


@pytest.mark.parametrize(
    ("raw", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "refused"),
        ("RECITATION", "refused"),
        ("MODEL_ARMOR", "refused"),
        ("IMAGE_PROHIBITED_CONTENT", "refused"),
        ("SOMETHING_NEW", "stop"),
    ],
)
async def test_each_reason_to_stop_has_one_meaning(raw: str, finish: str) -> None:
    assert (await answer(replying(events(chunk(text("a"), finish=raw))))).finish == finish


@pytest.mark.parametrize(
    "candidate",
    [{"finishReason": "SAFETY"}, {"content": {}, "finishReason": "SAFETY"}, {"content": None, "finishReason": "SPII"}],
)
async def test_a_filtered_answer_may_have_no_content(candidate: object) -> None:
    message = await answer(replying(events({"candidates": [candidate], "usageMetadata": COUNTS})))
    assert (message.parts, message.finish, message.usage.input_tokens) == ((), "refused", 15)


async def test_a_blocked_prompt_is_a_refusal_without_candidates() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": COUNTS}
    message = await answer(replying(events(blocked)))
    assert (message.parts, message.finish, message.usage.input_tokens) == ((), "refused", 15)


@pytest.mark.parametrize("reason", [None, "FINISH_REASON_UNSPECIFIED"])
async def test_an_answer_without_a_reason_to_stop_was_cut(reason: str | None) -> None:
    cut = {"candidates": [{"content": {"parts": [{"text": "half"}]}, "finishReason": reason}]}
    unblocked = {"promptFeedback": {"blockReason": "BLOCK_REASON_UNSPECIFIED"}}
    with pytest.raises(BadReplyError, match="not the whole") as caught:
        await answer(replying(events(cut, unblocked)))
    assert caught.value.delivered


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("MALFORMED_FUNCTION_CALL", BadReplyError),
        ("UNEXPECTED_TOOL_CALL", BadReplyError),
        ("TOO_MANY_TOOL_CALLS", BadReplyError),
        ("MALFORMED_RESPONSE", BadReplyError),
        ("NO_IMAGE", BadReplyError),
        ("OTHER", BadReplyError),
        ("MISSING_THOUGHT_SIGNATURE", BadRequestError),
    ],
)
async def test_a_reason_that_means_a_fault_is_a_typed_error_after_its_usage(
    raw: str, kind: type[ProviderError]
) -> None:
    body = events(chunk(finish=raw, usage=COUNTS, finishMessage="Malformed function call: prin"))
    seen: list[Piece] = []
    with pytest.raises(ProviderError, match="Malformed function call: prin") as caught:
        await pieces_of(serving(replying(body, headers={"x-request-id": "req_7"})), seen=seen)
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.request_id) == (raw, "req_7")
    assert any(isinstance(piece, UsagePiece) for piece in seen)
    assert caught.value.retryable == (kind is BadReplyError)


async def test_thinking_that_leaves_no_tokens_for_an_answer_is_not_tried_again() -> None:
    body = events(chunk(finish="MAX_TOKENS", usage=COUNTS))
    with pytest.raises(
        BadReplyError, match=r"\(7 of them thinking\) before it wrote anything; allow it more"
    ) as caught:
        await answer(replying(body))
    assert not caught.value.retryable


async def test_arguments_of_any_form_are_kept() -> None:
    given: tuple[object, ...] = (None, {}, '{"c":1}', '{"c', [1])
    calls = [{"functionCall": {"name": "a"}}, *(called("b", arguments) for arguments in given)]
    message = await answer(replying(events(chunk(*calls, finish="STOP"))))
    assert [(call.arguments, call.arguments_text) for call in message.calls] == [
        ({}, "{}"),
        ({}, "{}"),
        ({}, "{}"),
        ({"c": 1}, '{"c":1}'),
        (None, '{"c'),
        (None, "[1]"),
    ]


async def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(BadReplyError, match="without the tool's name"):
        await answer(replying(events(chunk({"functionCall": {"args": {}}}, finish="STOP"))))


async def test_what_google_runs_and_blocks_of_unknown_kinds_are_kept_whole() -> None:
    blocks: list[dict[str, object]] = [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}, "thoughtSignature": "MQ=="},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "a", "args": {"queries": ["x", "y"]}}},
        {"toolCall": {"toolType": "MAPS", "id": "b", "args": {"place": "Ü"}}},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "a", "response": {"b": 1}}},
        {"thoughtSignature": "Mg==", "inlineData": {"mimeType": "audio/wav", "data": "YWJj"}},
        {"somethingNew": "said", "thought": True},
    ]
    message = await answer(replying(events(chunk(*blocks, finish="STOP"))))
    parts = [part for part in message.parts if isinstance(part, HostedPart)]
    assert [part.opaque for part in parts] == [opaque(part=block) for block in blocks]
    assert [(part.tool, part.name, part.text) for part in parts] == [
        ("executableCode", "", "print(1)"),
        ("codeExecutionResult", "", "1\n"),
        ("toolCall", "GOOGLE_SEARCH_WEB", "x\ny"),
        ("toolCall", "MAPS", '{"place": "Ü"}'),
        ("toolResponse", "GOOGLE_SEARCH_WEB", ""),
        ("inlineData", "audio/wav", ""),
        ("somethingNew", "", ""),
    ]


async def test_fields_beside_text_and_calls_that_are_not_known_go_back_with_them() -> None:
    parts: tuple[dict[str, object], ...] = (
        {"newField": 1, "text": "a"},
        {"newField": 2, "functionCall": {"name": "b", "args": {}}},
        {"thoughtSignature": "c2ln"},
        {},
    )
    message = await answer(replying(events(chunk(*parts, finish="STOP"))))
    assert [
        (part.kind, part.opaque and part.opaque.data) for part in message.parts if part.kind in ("text", "call")
    ] == [
        ("text", {"newField": 1}),
        ("call", {"newField": 2}),
        ("text", {"thoughtSignature": "c2ln"}),
    ]


async def test_searches_and_sources_are_told_at_the_end() -> None:
    grounding = {
        "webSearchQueries": ["weather", ""],
        "groundingChunks": [
            {"web": {"title": "a.example", "uri": "https://a.example"}},
            {"retrievedContext": {"title": "notes.txt"}},
        ],
    }
    pages = {"urlMetadata": [{"retrievedUrl": "https://b.example", "urlRetrievalStatus": "OK"}]}
    quoted = {"citationSources": [{"uri": "https://c.example"}, {"uri": "https://c.example"}]}
    stream = events(
        chunk(text("It "), groundingMetadata={}),
        chunk(text("rains."), groundingMetadata={"webSearchQueries": ["weather"], "retrievalMetadata": {"score": 1}}),
        chunk(finish="STOP", groundingMetadata=grounding, urlContextMetadata=pages, citationMetadata=quoted),
    )
    message = await answer(replying(stream))
    assert message.text == "It rains."
    hosted = [part for part in message.parts if isinstance(part, HostedPart)]
    assert [(part.tool, part.text) for part in hosted] == [
        ("groundingMetadata", "weather\na.example https://a.example\nnotes.txt"),
        ("urlContextMetadata", "https://b.example"),
        ("citationMetadata", "https://c.example"),
    ]
    assert hosted[0].opaque == opaque(groundingMetadata={**grounding, "retrievalMetadata": {"score": 1}})


async def test_sources_without_an_answer_are_none() -> None:
    with pytest.raises(BadReplyError, match="empty"):
        await answer(replying(events(chunk(finish="STOP", groundingMetadata={"webSearchQueries": ["a"]}))))


async def test_a_second_candidate_is_not_mixed_in() -> None:
    second = {"index": 1, "content": {"parts": [{"text": "other"}]}, "finishReason": "MAX_TOKENS"}
    value = chunk(text("one"), finish="STOP")
    value["candidates"].append(second)
    message = await answer(replying(events(value)))
    assert (message.text, message.finish) == ("one", "stop")


async def test_characters_cut_in_two_are_joined_and_lone_halves_replaced() -> None:
    body = (
        rb'data: {"candidates":[{"content":{"parts":[{"text":"a\ud83d"}]}}]}' + b"\r\n\r\n"
        rb'data: {"candidates":[{"content":{"parts":[{"text":"\ude00b\ud83d"},{"text":"\ud83d","thought":true},'
        rb'{"functionCall":{"name":"t","args":{"x":"\ud83d"}}}]},"finishReason":"STOP"}]}' + b"\r\n\r\n"
    )
    message = await answer(replying(body))
    assert message.text == "a😀b\ufffd"
    assert message.calls[0].arguments == {"x": "\ufffd"}
    assert message.model_dump_json()


@pytest.mark.parametrize(
    "value",
    [
        None, 1, "x", [], {}, {"candidates": None}, {"candidates": "x"}, {"candidates": [None, 1, "x", []]},
        {"candidates": [{"content": {"parts": None}}]}, {"candidates": [{"content": {"parts": [None, 1, "x", []]}}]},
        {"candidates": [{"content": {"parts": [{"text": 1}, {"text": None, "thought": "x"}]}}]},
        {"candidates": [{"content": "x", "finishReason": 1, "groundingMetadata": [1]}]},
        {"candidates": [{"groundingMetadata": {"webSearchQueries": [1], "groundingChunks": [1, {"web": 1}]}}]},
        {"candidates": [{"content": {"parts": [{"toolCall": 1}, {"executableCode": {"code": 1}}]}}]},
        {"usageMetadata": {"promptTokenCount": "x", "candidatesTokenCount": -1}}, {"promptFeedback": 1},
        {"responseId": 1, "usageMetadata": []},
    ],
)  # fmt: skip
async def test_a_chunk_of_any_form_breaks_nothing(value: object) -> None:
    message = await answer(replying(events(value, chunk(text("whole"), finish="STOP"), value)))
    assert "whole" in message.text
    assert message.finish == "stop"


async def test_an_image_that_the_model_made_is_an_image_with_what_came_beside_it() -> None:
    made = {"inlineData": {"mimeType": "image/png", "data": "YWJj"}, "thoughtSignature": "Mg=="}
    message = await answer(replying(events(chunk({"text": "Look:"}, made, finish="STOP"))))
    assert message.parts[1] == ImagePart(data=b"abc", opaque=opaque(thoughtSignature="Mg=="))
    alone = await answer(
        replying(events(chunk({"inlineData": {"mimeType": "image/webp", "data": "YWJj"}}, finish="STOP")))
    )
    assert alone.parts == (ImagePart(media_type="image/webp", data=b"abc"),)


async def test_a_draft_of_an_image_and_one_that_cannot_be_read_stay_what_they_were() -> None:
    draft = {"inlineData": {"mimeType": "image/png", "data": "YWJj"}, "thought": True}
    broken = {"inlineData": {"mimeType": "image/png", "data": "é"}}
    message = await answer(replying(events(chunk(draft, broken, finish="STOP"))))
    assert [part.opaque for part in message.parts if part.kind == "hosted"] == [opaque(part=draft), opaque(part=broken)]
