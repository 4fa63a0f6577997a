from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.providers.openai_responses_output import Output, Prose
from tests.providers.responses_serving import added, answer, call, completed, done, event, events, message, text
from tests.providers.serving import replying


@given(st.text(), st.integers(min_value=0), st.integers(min_value=0))
def test_prose_is_told_whole_wherever_it_was_cut(said: str, first: int, second: int) -> None:
    first, second = sorted((first % (len(said) + 1), second % (len(said) + 1)))
    prose = Prose()
    prose.add(said[:first])
    told = prose.take()
    prose.add(said[first:second])
    assert prose.settle(said)
    assert told + prose.take() == said == prose.told


@pytest.mark.parametrize(
    ("came", "whole", "agrees", "told"),
    [
        ("Hi", "Hi there", True, "Hi there"),
        ("", "Hi", True, "Hi"),
        ("Hi", "", True, "Hi"),
        ("Hi\n", "Hi", True, "Hi\n"),
        ("\nHi", "Hi", True, "\nHi"),
        ("Hi", "Ho", False, "Hi"),
        ("Hi there", "Hi", False, "Hi there"),
        ("Hi \ud83d", "Hi \ud83d\udc4b", True, "Hi 👋"),
        ("Hi \ud83d", "", True, "Hi \ufffd"),
    ],
)
def test_prose_is_completed_by_the_whole_and_does_not_lose_what_was_told(
    came: str, whole: str, agrees: bool, told: str
) -> None:
    prose = Prose()
    prose.add(came)
    prose.take()
    assert prose.settle(whole) is agrees
    prose.take()
    assert prose.told == told


def _without(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in keys}


async def test_items_are_found_by_index_by_id_or_by_order() -> None:
    first, second, said = call("a", "", number=1), call("b", "", number=2), message("Hi")
    numbered = [
        added(0, first), added(1, second),
        event("function_call_arguments.delta", output_index=1, item_id="fc_2", delta='{"b":2}'),
        event("function_call_arguments.delta", output_index=0, item_id="fc_1", delta='{"a":1}'),
        added(2, said), text("Hi", 2),
    ]  # fmt: skip
    by_id = [_without(value, "output_index") for value in numbered]
    by_index = [
        {
            **_without(value, "item_id"),
            **({"item": {**value["item"], "id": f"other_{place}"}} if "item" in value else {}),
        }
        for place, value in enumerate(numbered)
    ]
    for stream in (numbered, by_id, by_index):
        found = await answer(replying(events(*stream, completed())))
        assert [(part.tool, part.arguments_text) for part in found.calls] == [("a", '{"a":1}'), ("b", '{"b":2}')]
        assert found.text == "Hi"


async def test_pieces_without_id_and_index_belong_to_the_last_item_of_their_kind() -> None:
    stream = [
        event("output_item.added", item={"type": "function_call", "name": "a", "arguments": ""}),
        event("function_call_arguments.delta", delta="{}"),
        event("output_item.done", item={"type": "function_call", "name": "a", "arguments": "{}"}),
        event("output_text.delta", delta="H"),
        event("output_text.delta", delta="i"),
        completed(),
    ]
    found = await answer(replying(events(*stream)))
    assert ([part.tool for part in found.calls], found.text) == (["a"], "Hi")


async def test_an_index_that_is_used_again_by_another_item_begins_another() -> None:
    stream = events(
        added(0, call("a", number=1)), done(0, call("a", number=1)),
        added(0, call("b", number=2)), done(0, call("b", number=2)),
        completed(),
    )  # fmt: skip
    assert [part.tool for part in (await answer(replying(stream))).calls] == ["a", "b"]


async def test_an_item_that_is_announced_or_ended_twice_is_one() -> None:
    said = message("Hi")
    stream = events(added(0, said), added(0, said), text("Hi"), done(0, said), done(0, said), completed(said))
    found = await answer(replying(stream))
    assert (found.text, len(found.parts)) == ("Hi", 1)


def test_the_whole_answer_completes_open_items_and_adds_what_never_came() -> None:
    output = Output()
    output.announced(added(0, message("", "msg_a")))
    output.finished(done(0, message("A", "msg_a")))
    opened = output.announced(added(1, call("b", "")))
    open_items = output.completed([message("A", "another_id"), call("b", "{}"), message("C", "msg_c")])
    assert [item.kind for item in open_items if not item.done] == ["message", "function_call", "message"]
    assert opened.raw["arguments"] == "{}"
    assert [item.raw.get("id") for item in output.items] == ["another_id", "fc_1", "msg_c"]
