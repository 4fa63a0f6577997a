from __future__ import annotations

import json

import pytest

from perdure.contracts.errors import BadReplyError
from perdure.contracts.messages import FinishReason, Opaque, ReasoningPart, TextPart
from tests.providers.anthropic_serving import (
    ORIGIN,
    Json,
    answer,
    block,
    end,
    events,
    start,
    text,
    thinking,
    tool_use,
)
from tests.providers.serving import replying


@pytest.mark.parametrize(
    ("raw", "calls", "expected"),
    [
        ("end_turn", False, "stop"),
        ("end_turn", True, "calls"),
        ("stop_sequence", False, "stop"),
        ("tool_use", True, "calls"),
        ("tool_use", False, "stop"),
        ("max_tokens", False, "length"),
        ("max_tokens", True, "length"),
        ("model_context_window_exceeded", False, "length"),
        ("refusal", False, "refused"),
        ("a_new_word", False, "stop"),
        (None, False, "stop"),
    ],
)
async def test_finish_words_have_one_meaning(raw: str | None, calls: bool, expected: FinishReason) -> None:
    called = tool_use(1) if calls else []
    assert (await answer(replying(events(start(), text(0, "x"), called, end(raw))))).finish == expected


async def test_a_refusal_without_text_says_its_explanation() -> None:
    ending = end("refusal")
    ending[0]["delta"]["stop_details"] = {"type": "refusal", "category": "cyber", "explanation": "I cannot."}
    message = await answer(replying(events(start(), ending)))
    assert (message.text, message.finish) == ("I cannot.", "refused")
    message = await answer(replying(events(start(), text(0, "half"), ending)))
    assert (message.text, message.finish) == ("half", "refused")


async def test_blocks_of_text_that_follow_one_another_stay_apart() -> None:
    message = await answer(replying(events(start(), text(0, "a"), text(1), text(2, "b"), end())))
    assert message.parts == (TextPart(text="a", opaque=Opaque(origin=ORIGIN)), TextPart(text="b"))


async def test_thinking_between_calls_keeps_its_place() -> None:
    stream = events(
        start(),
        thinking(0, "a", signature="1"),
        tool_use(1),
        thinking(2, signature="2"),
        tool_use(3, call_id="toolu_2"),
        end("tool_use"),
    )
    message = await answer(replying(stream))
    assert [part.kind for part in message.parts] == ["reasoning", "call", "reasoning", "call"]
    signed = [part.opaque.data["signature"] for part in message.parts if part.kind == "reasoning" and part.opaque]
    assert signed == ["1", "2"]


async def test_a_whole_reply_is_read_like_a_streamed_one() -> None:
    content: list[Json] = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "ä"}},
    ]
    usage = {"input_tokens": 10, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2, "output_tokens": 4}
    whole = {"id": "msg_1", "type": "message", "content": content, "stop_reason": "tool_use", "usage": usage}
    streamed = events(start(), thinking(0, "hm"), text(1, "I look."), tool_use(2, '{"path": "ä"}'), end("tool_use"))
    assert await answer(replying(json.dumps(whole).encode())) == await answer(replying(streamed))


async def test_a_message_that_starts_with_content_keeps_it() -> None:
    begun = start()
    begun["message"]["content"] = [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"a": 1}}]
    message = await answer(replying(events(begun, end("tool_use"))))
    assert [(call.tool, call.arguments) for call in message.calls] == [("read", {"a": 1})]


async def test_a_start_that_comes_twice_counts_once() -> None:
    message = await answer(replying(events(start(), start(), text(0, "Hi"), end())))
    assert (message.text, message.usage.input_tokens) == ("Hi", 15)


async def test_another_answer_inside_this_one_is_an_error() -> None:
    stream = events(start(), text(0, "Hi"), start("msg_2"), tool_use(0), end("tool_use"))
    with pytest.raises(BadReplyError, match="another answer") as caught:
        await answer(replying(stream))
    assert caught.value.delivered


async def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(BadReplyError, match="without the tool's name"):
        await answer(replying(events(start(), tool_use(0, name=""), end("tool_use"))))


async def test_events_and_deltas_of_unknown_kinds_change_nothing() -> None:
    stream = events(
        {"type": "ping"},
        start(),
        {"type": "a_new_event", "index": 0},
        {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "nowhere"}},
        block(0, {"type": "text", "text": ""}, {"type": "a_new_delta"}, {"type": "text_delta", "text": "Hi"}),
        end(),
    )
    assert (await answer(replying(stream))).parts == (TextPart(text="Hi"),)


async def test_the_kind_is_read_from_the_event_where_the_data_has_none() -> None:
    stream = events(start(), text(0, "Hi"), end()).replace(b'"type": "message_stop"', b'"x": 1')
    assert (await answer(replying(stream))).text == "Hi"


async def test_blocks_whose_ends_are_missing_or_late_are_whole_all_the_same() -> None:
    opened, _, delta, _ = tool_use(0, '{"a": 1}')
    other = tool_use(1, '{"b": 2}', call_id="toolu_2")
    late = events(start(), [opened, delta], other, {"type": "content_block_stop", "index": 0}, end("tool_use"))
    missing = events(start(), [opened, delta], other, end("tool_use"))
    for stream in (late, missing):
        message = await answer(replying(stream))
        assert [call.arguments for call in message.calls] == [{"a": 1}, {"b": 2}]


async def test_a_server_that_signs_with_nothing_gets_its_empty_signature_back() -> None:
    message = await answer(replying(events(start(), thinking(0, "hm", signature=""), text(1, "Hi"), end())))
    assert message.parts[0] == ReasoningPart(
        text="hm", opaque=Opaque(origin=ORIGIN, data={"type": "thinking", "signature": ""})
    )


async def test_thinking_that_was_cut_is_kept_without_a_signature() -> None:
    cut = events(start(), thinking(0, "hm")[:2], end("max_tokens"))
    message = await answer(replying(cut))
    assert message.parts == (
        ReasoningPart(text="hm", opaque=Opaque(origin=ORIGIN, data={"type": "thinking", "signature": ""})),
    )
