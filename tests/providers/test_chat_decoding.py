from __future__ import annotations

import pytest

from perdure.contracts.messages import FinishReason, ReasoningPart, TextPart
from perdure.contracts.usage import Cost, Usage
from tests.providers.serving import USAGE, answer, chunk, counted, events, replying


@pytest.mark.parametrize(
    ("raw", "calls", "expected"),
    [
        ("stop", False, "stop"),
        ("stop", True, "calls"),
        ("tool_calls", True, "calls"),
        ("tool_calls", False, "stop"),
        ("function_call", True, "calls"),
        ("length", False, "length"),
        ("length", True, "length"),
        ("content_filter", False, "refused"),
        ("a_new_word", False, "stop"),
    ],
)
async def test_finish_words_have_one_meaning(raw: str, calls: bool, expected: FinishReason) -> None:
    called = [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{}"}}] if calls else None
    assert (await answer(replying(events(chunk(content="x", tool_calls=called), chunk(raw))))).finish == expected


async def test_a_refusal_is_text_and_finishes_as_refused() -> None:
    message = await answer(replying(events(chunk(refusal="I can"), chunk(refusal="not."), chunk("stop"))))
    assert (message.text, message.finish) == ("I cannot.", "refused")


@pytest.mark.parametrize(
    "deltas",
    [
        [{"reasoning_content": "h"}, {"reasoning_content": "m"}, {"content": "Yes."}],
        [{"reasoning": "hm"}, {"content": "Yes."}],
        [{"reasoning": "hm", "reasoning_content": "hm"}, {"content": "Yes."}],
        [{"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, {"content": "Yes."}],
        [{"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}, {"content": "Yes."}],
        [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}, {"content": "Yes."}],
        [{"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}]}],
        [{"content": "<thi"}, {"content": "nk>hm</think>\n"}, {"content": "\nYes."}],
    ],
)
async def test_reasoning_is_found_wherever_a_server_puts_it(deltas: list[dict[str, object]]) -> None:
    stream = events(*({"choices": [{"index": 0, "delta": delta}]} for delta in deltas), chunk("stop"))
    message = await answer(replying(stream), name="vllm")
    assert message.parts == (ReasoningPart(text="hm"), TextPart(text="Yes."))


async def test_openrouters_reasoning_details_are_kept_whole_for_the_way_back() -> None:
    details = [
        [{"type": "reasoning.text", "text": "h", "index": 0, "format": "x"}],
        [{"type": "reasoning.text", "text": "m", "index": 0, "signature": None}],
        [
            {"type": "reasoning.text", "index": 0, "signature": "sig"},
            {"type": "reasoning.encrypted", "data": "b", "index": 1},
        ],
    ]
    stream = events(*(chunk(reasoning_details=detail) for detail in details), chunk("stop", content="Yes."))
    message = await answer(replying(stream), name="openrouter")
    thought = message.parts[0]
    assert isinstance(thought, ReasoningPart)
    assert thought.text == "hm"
    assert thought.opaque is not None
    assert thought.opaque.origin == "openai-chat:openrouter.ai"
    assert thought.opaque.data["reasoning_details"] == [
        {"type": "reasoning.text", "text": "hm", "index": 0, "format": "x", "signature": "sig"},
        {"type": "reasoning.encrypted", "data": "b", "index": 1},
    ]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({}, Usage(requests=1, input_tokens=10, cached_tokens=3, output_tokens=4)),
        (
            {"completion_tokens_details": {"reasoning_tokens": 2}},
            Usage(requests=1, input_tokens=10, cached_tokens=3, output_tokens=4, reasoning_tokens=2),
        ),
        (
            {"prompt_tokens_details": None, "prompt_cache_hit_tokens": 6},
            Usage(requests=1, input_tokens=10, cached_tokens=6, output_tokens=4),
        ),
        (
            {"prompt_tokens_details": None, "num_cached_tokens": 6},
            Usage(requests=1, input_tokens=10, cached_tokens=6, output_tokens=4),
        ),
        ({"prompt_tokens": None, "completion_tokens": "x", "prompt_tokens_details": []}, Usage(requests=1)),
    ],
)
async def test_usage_is_read_under_every_name(usage: dict[str, object], expected: Usage) -> None:
    message = await answer(replying(events(chunk("stop", content="x"), counted(**usage))))
    assert message.usage == expected


@pytest.mark.parametrize(
    "tail",
    [
        [{**chunk("stop"), "usage": USAGE}],
        [chunk("stop"), {**chunk("stop"), "usage": USAGE}],
        [chunk("stop"), {"choices": [], "usage": USAGE}],
        [{**chunk("stop"), "x_groq": {"usage": USAGE}}],
        [{"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": USAGE}]}],
    ],
)
async def test_usage_is_found_wherever_a_server_puts_it(tail: list[dict[str, object]]) -> None:
    message = await answer(replying(events(chunk(content="x"), *tail)))
    assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 4)


async def test_output_that_a_server_leaves_out_of_its_count_is_counted() -> None:
    hidden = counted(completion_tokens=2, total_tokens=24, completion_tokens_details={"reasoning_tokens": 12})
    message = await answer(replying(events(chunk("stop", content="x"), hidden)), name="xai")
    assert (message.usage.output_tokens, message.usage.reasoning_tokens) == (14, 12)


async def test_a_cost_that_the_provider_states_is_taken() -> None:
    message = await answer(replying(events(chunk("stop", content="x"), counted(cost=0.00000001))), name="openrouter")
    assert message.cost == Cost(nano_dollars=10)
