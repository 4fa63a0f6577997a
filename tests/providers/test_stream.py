from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.contracts.messages import AssistantMessage, CallPart, HostedPart, Opaque, ReasoningPart, TextPart
from perdure.contracts.usage import Cost, Usage
from perdure.providers.stream import (
    Assembler,
    CallPiece,
    FinishPiece,
    HostedPiece,
    OpaquePiece,
    Piece,
    ReasoningPiece,
    StartPiece,
    TextPiece,
    UsagePiece,
)

SIGNED = Opaque(origin="x", data={"signature": "abc"})


def made(*pieces: Piece, model: str = "scripted:x") -> AssistantMessage:
    assembler = Assembler("t1s1", model)
    for piece in pieces:
        assembler.add(piece)
    return assembler.message()


def test_parts_keep_the_order_in_which_they_began() -> None:
    message = made(
        ReasoningPiece("hm"),
        TextPiece("I "),
        TextPiece("look."),
        CallPiece(0, id="call_0", name="read", arguments='{"a"'),
        CallPiece(1, id="call_0", name="list"),
        CallPiece(0, arguments=":1}"),
        TextPiece("Done."),
        FinishPiece("calls", "tool_calls"),
    )
    assert message.parts == (
        ReasoningPart(text="hm"),
        TextPart(text="I look."),
        CallPart(
            call_id="t1s1c1", tool="read", arguments_text='{"a":1}', arguments={"a": 1}, provider_call_id="call_0"
        ),
        CallPart(call_id="t1s1c2", tool="list", arguments_text="", arguments={}, provider_call_id="call_0"),
        TextPart(text="Done."),
    )
    assert message.finish == "calls"


def test_what_the_provider_did_by_itself_keeps_its_place_among_the_parts() -> None:
    message = made(TextPiece("I look."), HostedPiece("web_search_call", SIGNED, text="42"), TextPiece("It is 42."))
    assert message.parts == (
        TextPart(text="I look."),
        HostedPart(tool="web_search_call", text="42", opaque=SIGNED),
        TextPart(text="It is 42."),
    )
    assert AssistantMessage.model_validate_json(message.model_dump_json()) == message


def test_our_call_ids_are_unique_whatever_the_provider_says() -> None:
    message = made(*(CallPiece(index, id="call_0", name="read") for index in range(3)))
    assert [call.call_id for call in message.calls] == ["t1s1c1", "t1s1c2", "t1s1c3"]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        ("{}", {}),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ('{"a": 1', None),
        ("[1]", None),
        ('"a"', None),
        ('{"a": NaN}', None),
        ("[" * 100_000, None),
    ],
)
def test_arguments_are_decoded_when_they_are_an_object_and_kept_to_the_byte(text: str, arguments: object) -> None:
    call = made(CallPiece(0, name="read", arguments=text)).calls[0]
    assert call.arguments == arguments
    assert call.arguments_text == text


def test_a_call_whose_name_had_not_come_is_left_out_and_takes_no_number() -> None:
    message = made(CallPiece(0, arguments="{"), CallPiece(1, name="read"))
    assert [(call.call_id, call.tool) for call in message.calls] == [("t1s1c1", "read")]


def test_signed_parts_never_merge_with_their_neighbours() -> None:
    message = made(
        TextPiece("a"), TextPiece("b", SIGNED), TextPiece("c"), ReasoningPiece("d"), ReasoningPiece("", SIGNED)
    )
    assert message.parts == (
        TextPart(text="ab", opaque=SIGNED),
        TextPart(text="c"),
        ReasoningPart(text="d", opaque=SIGNED),
    )


def test_opaque_data_that_comes_late_belongs_to_the_last_part_of_its_kind() -> None:
    message = made(ReasoningPiece("a"), TextPiece("b"), OpaquePiece(SIGNED), OpaquePiece(SIGNED))
    assert message.parts == (
        ReasoningPart(text="a", opaque=SIGNED),
        TextPart(text="b"),
        ReasoningPart(text="", opaque=SIGNED),
    )


def test_a_piece_apart_begins_a_part_even_with_empty_text() -> None:
    message = made(
        TextPiece("a"), TextPiece("", SIGNED, apart=True), ReasoningPiece("b"), ReasoningPiece("c", apart=True)
    )
    assert message.parts == (
        TextPart(text="a"),
        TextPart(text="", opaque=SIGNED),
        ReasoningPart(text="b"),
        ReasoningPart(text="c"),
    )


def test_empty_text_makes_no_part() -> None:
    assert made(TextPiece(""), ReasoningPiece(""), TextPiece("a")).parts == (TextPart(text="a"),)


def test_later_usage_replaces_earlier_and_counts_one_request() -> None:
    said = (UsagePiece(Usage(input_tokens=5)), UsagePiece(Usage(input_tokens=5, output_tokens=2)))
    assert made(*said, FinishPiece("stop")).usage == Usage(requests=1, input_tokens=5, output_tokens=2)


@pytest.mark.parametrize("pieces", [(TextPiece("a"), UsagePiece(Usage(input_tokens=5))), (FinishPiece("stop"),)])
def test_usage_is_incomplete_until_the_answer_has_ended_and_its_usage_was_said(pieces: tuple[Piece, ...]) -> None:
    assert made(*pieces).usage.incomplete == 1


def test_the_providers_own_word_on_the_cost_beats_the_price_list() -> None:
    message = made(UsagePiece(Usage(input_tokens=5), Cost(nano_dollars=7)), model="openrouter:openai/gpt-4o")
    assert message.cost == Cost(nano_dollars=7)


def test_usage_that_was_never_said_is_unpriced_and_not_free() -> None:
    assert made(TextPiece("a"), model="openai:gpt-5-mini").cost == Cost(unpriced=1)
    assert made(TextPiece("a"), model="scripted:x").cost == Cost()


def test_the_message_can_be_taken_at_any_time_and_marked_interrupted() -> None:
    assembler = Assembler("t2s3", "scripted:x", attempt=4)
    assembler.add(StartPiece("msg_1"))
    assembler.add(TextPiece("half"))
    message = assembler.message("interrupted")
    assert (message.text, message.finish, message.attempt) == ("half", "interrupted", 4)
    assert (message.message_id, message.provider_message_id) == ("t2s3", "msg_1")
    assembler.add(TextPiece(" whole"))
    assembler.add(FinishPiece("stop"))
    assert assembler.message().text == "half whole"


def test_one_request_is_counted_unless_the_provider_took_more() -> None:
    assembler = Assembler("t1s1", "scripted:x")
    assert assembler.usage.requests == 1
    assembler.add(UsagePiece(Usage(input_tokens=1)))
    assert assembler.usage.requests == 1
    assembler.add(UsagePiece(Usage(requests=3)))
    assert assembler.usage.requests == 3


pieces = st.lists(
    st.one_of(
        st.builds(TextPiece, st.text(max_size=3), st.sampled_from([None, None, SIGNED])),
        st.builds(ReasoningPiece, st.text(max_size=3), st.sampled_from([None, None, SIGNED])),
        st.builds(CallPiece, st.integers(0, 2), st.just(""), st.sampled_from(["", "read"]), st.text(max_size=3)),
    ),
    max_size=20,
)


@given(pieces, st.data())
def test_live_text_is_the_messages_text_however_often_it_is_read(stream: list[Piece], data: st.DataObject) -> None:
    assembler = Assembler("t1s1", "scripted:x")
    for piece in stream:
        assembler.add(piece)
        if data.draw(st.booleans()):
            assert assembler.text == assembler.message().text
    message = assembler.message()
    assert assembler.text == message.text == "".join(piece.text for piece in stream if isinstance(piece, TextPiece))
    assert assembler.reasoning == "".join(part.text for part in message.parts if part.kind == "reasoning")
