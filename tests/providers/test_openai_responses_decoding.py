from __future__ import annotations

from typing import Any

import pytest

from perdure.contracts.errors import BadReplyError
from perdure.contracts.messages import FinishReason, HostedPart, Opaque
from perdure.contracts.usage import Usage
from perdure.providers.openai_responses_decoding import usage_of
from tests.providers.responses_serving import (
    MODEL,
    ORIGIN,
    added,
    answer,
    begun,
    call,
    completed,
    done,
    event,
    events,
    message,
    reasoning,
    response,
    text,
)
from tests.providers.serving import asking, replying

REFUSAL = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}}


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (completed(message("Hi")), "stop"),
        (completed(message("Hi"), call()), "calls"),
        (completed(message("Hi"), status="complete"), "stop"),
        (completed(message("Hi"), status="a_new_word"), "stop"),
        (completed(REFUSAL), "refused"),
        (event("incomplete", response=response(message("Hi"), status="incomplete")), "length"),
        (completed(message("Hi"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (completed(call(), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (completed(message("Hi"), status="incomplete", incomplete_details={"reason": "content_filter"}), "refused"),
        (completed(message("Hi"), status="incomplete", incomplete_details={"reason": "a_new_word"}), "length"),
    ],
)
async def test_an_end_has_one_meaning(end: dict[str, Any], expected: FinishReason) -> None:
    assert (await answer(replying(events(begun(), end)))).finish == expected


async def test_an_answer_that_took_all_of_its_limit_counts_as_cut_where_the_server_hides_cuts() -> None:
    stream = replying(events(completed(message("Hi"))))
    for dialect, limit, finish in (("llamacpp", 7, "length"), ("llamacpp", 8, "stop"), ("openai", 7, "stop")):
        request = asking(model=MODEL).model_copy(update={"max_output_tokens": limit})
        assert (await answer(stream, request=request, dialect=dialect)).finish == finish


async def test_a_refusal_is_text_and_finishes_as_refused() -> None:
    stream = events(
        added(0, REFUSAL),
        event("refusal.delta", output_index=0, content_index=0, delta="N"),
        event("refusal.delta", output_index=0, content_index=0, delta="o."),
        done(0, REFUSAL),
        completed(REFUSAL),
    )
    for body in (stream, events(completed(REFUSAL))):
        found = await answer(replying(body))
        assert (found.text, found.finish) == ("No.", "refused")


async def test_what_the_provider_does_by_itself_is_kept_whole_and_in_its_place() -> None:
    unknown = {"type": "a_new_item", "id": "x_1", "payload": {"deep": [1, None]}}
    stream = events(added(0, SEARCH), done(0, SEARCH), done(1, unknown), completed(SEARCH, unknown, message("42")))
    found = await answer(replying(stream))
    assert found.parts[:2] == (
        HostedPart(tool="web_search_call", text="x", opaque=Opaque(origin=ORIGIN, data={"item": SEARCH})),
        HostedPart(tool="a_new_item", opaque=Opaque(origin=ORIGIN, data={"item": unknown})),
    )
    assert found.text == "42"


async def test_unknown_events_and_odd_values_are_passed_over() -> None:
    odd = [event("a.new.event", output_index="x"), {"type": 7}, {"odd": []}, event("output_text.annotation.added")]
    assert (
        await answer(replying(events(*odd, added(0, message("")), text("Hi"), completed(message("Hi")))))
    ).text == "Hi"


async def test_items_keep_the_order_in_which_they_began_whatever_ends_first() -> None:
    first, second = call("a", number=1), call("b", number=2)
    stream = events(
        added(0, first), added(1, second), added(2, message("")),
        text("And ", 2), done(1, second), text("more.", 2), done(0, first),
        completed(first, second, message("And more.")),
    )  # fmt: skip
    found = await answer(replying(stream))
    assert [part.kind for part in found.parts] == ["call", "call", "text"]
    assert [part.tool for part in found.calls] == ["a", "b"]
    assert found.text == "And more."


async def test_full_reasoning_and_several_summaries_are_paragraphs() -> None:
    full = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
    summed = {
        **reasoning(),
        "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}],
    }
    streamed = [
        event("reasoning_summary_text.delta", output_index=1, summary_index=0, delta="One."),
        event("reasoning_summary_text.delta", output_index=1, summary_index=1, delta="Two."),
    ]
    whole = await answer(replying(events(completed(full, summed, message("Yes.")))))
    pieces = await answer(
        replying(
            events(
                added(0, full), event("reasoning_text.delta", output_index=0, delta="hm"), done(0, full),
                added(1, summed), *streamed, done(1, summed), completed(full, summed, message("Yes.")),
            )
        )
    )  # fmt: skip
    assert [part.text for part in whole.parts if part.kind == "reasoning"] == ["hm", "One.\n\nTwo."]
    assert pieces == whole


async def test_a_reworded_summary_leaves_what_was_shown_and_goes_back_as_it_is() -> None:
    final = reasoning("Thought it over.")
    stream = events(
        added(0, final), event("reasoning_summary_text.delta", output_index=0, delta="Thinking"), done(0, final),
        completed(final, message("Yes.")),
    )  # fmt: skip
    thought = (await answer(replying(stream))).parts[0]
    assert thought.kind == "reasoning"
    assert (thought.text, thought.opaque) == ("Thinking", Opaque(origin=ORIGIN, data={"item": final}))


async def test_a_text_that_comes_in_two_versions_is_an_error() -> None:
    for tail in (
        [event("output_text.done", output_index=0, text="Ho")],
        [done(0, message("Ho"))],
        [completed(message("Ho"))],
    ):
        with pytest.raises(BadReplyError, match="two versions"):
            await answer(replying(events(added(0, message("")), text("Hi"), *tail)))


async def test_arguments_that_came_whole_count_more_than_their_pieces() -> None:
    def asked(*values: dict[str, Any]) -> bytes:
        return events(added(0, call()), *values)

    piece = event("function_call_arguments.delta", output_index=0, delta='{"a":')
    whole = event("function_call_arguments.done", output_index=0, arguments='{"a":1}')
    for body, expected in (
        (asked(piece, done(0, call(arguments='{"a":2}')), completed()), '{"a":2}'),
        (asked(piece, whole, completed()), '{"a":1}'),
        (asked(piece, piece, done(0, call(arguments="")), completed()), '{"a":{"a":'),
        (asked(done(0, call(arguments={"a": 3})), completed()), '{"a": 3}'),
        (asked(completed(call(arguments='{"a":4}'))), '{"a":4}'),
        (asked(done(0, call(arguments="")), completed()), ""),
    ):
        assert (await answer(replying(body))).calls[0].arguments_text == expected


async def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(BadReplyError, match="without the tool's name"):
        await answer(replying(events(completed(call("")))))


async def test_an_answer_without_any_item_is_an_error() -> None:
    with pytest.raises(BadReplyError, match="the answer is empty"):
        await answer(replying(events(completed())))


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, Usage()),
        ({"input_tokens": 10, "output_tokens": 4}, Usage(input_tokens=10, output_tokens=4)),
        (
            {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 30, "cache_write_tokens": 2},
                "output_tokens": 4,
                "output_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(input_tokens=10, cached_tokens=10, cache_write_tokens=2, output_tokens=4, reasoning_tokens=3),
        ),
        ({"input_tokens": None, "output_tokens": "x", "input_tokens_details": []}, Usage()),
    ],
)
def test_usage_is_read_as_far_as_it_can_be(usage: dict[str, Any], expected: Usage) -> None:
    assert usage_of(usage) == expected
