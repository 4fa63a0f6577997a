from __future__ import annotations

import json
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
    Message,
    Opaque,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
    UserPart,
)
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.dialects import DIALECTS, Dialect
from perdure.providers.openai_responses_encoding import encode
from perdure.providers.tool_names import tool_names
from tests.providers.responses_serving import MODEL, ORIGIN, answer, call, message, reasoning, response
from tests.providers.serving import replying, user

SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": None}
HOSTED = HostedPart(tool="web_search_call", opaque=Opaque(origin=ORIGIN, data={"item": SEARCH}))


def body(
    *messages: Message, dialect: Dialect = DIALECTS["openai"], model: str = MODEL, **fields: Any
) -> dict[str, Any]:
    request = ModelRequest(model=model, messages=messages, **fields)
    encoded = encode(request, dialect, provider="openai-responses", origin=ORIGIN, names=tool_names(request))
    assert json.loads(json.dumps(encoded)) == encoded
    return encoded


def sent(*messages: Message, model: str = MODEL) -> list[dict[str, Any]]:
    return list(body(*messages, model=model)["input"])


def assistant(*parts: AssistantPart, model: str = MODEL) -> AssistantMessage:
    return AssistantMessage(message_id="t1s1", parts=parts, model=model)


def result(number: int = 1, **fields: Any) -> ToolMessage:
    return ToolMessage(message_id=f"t1s1c{number}r", call_id=f"t1s1c{number}", tool="read", **fields)


async def answered(*output: dict[str, Any]) -> AssistantMessage:
    return await answer(replying(json.dumps(response(*output)).encode()))


def test_a_request_is_encoded_as_the_protocol_says() -> None:
    asked = CallPart(call_id="t1s1c1", tool="fs.read", arguments_text='{"a":1}', arguments={"a": 1})
    request = body(
        user("Read a."), assistant(TextPart(text="I look."), asked), result(text="A"),
        system="Be brief.",
        tools=(ToolSpec(name="fs.read", description="Read."),),
        max_output_tokens=100,
        temperature=0.5,
        cache_key="run-1",
    )  # fmt: skip
    assert request == {
        "model": "gpt-5-mini",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": "Read a."},
            {"role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "t1s1c1", "name": "fs_read", "arguments": '{"a":1}'},
            {"type": "function_call_output", "call_id": "t1s1c1", "output": "A"},
        ],
        "tools": [
            {
                "type": "function",
                "name": "fs_read",
                "description": "Read.",
                "parameters": {"type": "object", "properties": {}},
                "strict": False,
            }
        ],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 100,
        "temperature": 0.5,
        "prompt_cache_key": "run-1",
    }


def test_what_is_not_asked_for_is_not_sent() -> None:
    bare = body(user("Hi"), dialect=DIALECTS["compatible"], cache_key="run-1")
    assert set(bare) == {"model", "input", "stream", "store"}


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ("gpt-5", True), ("gpt-5.1-codex", True), ("gpt-5.4-mini", True), ("gpt-10", True), ("o3", True),
        ("o4-mini", True), ("codex-mini-latest", True), ("openai/gpt-5", True),
        ("gpt-4o", False), ("gpt-4.1", False), ("gpt-4o-mini", False), ("gpt-5-chat-latest", False),
        ("gpt-3.5-turbo", False), ("omni-moderation", False),
    ],
)  # fmt: skip
def test_encrypted_reasoning_is_asked_of_models_that_reason(model: str, asked: bool) -> None:
    assert ("include" in body(user("Hi"), model=f"openai-responses:{model}")) is asked
    always, never = Dialect(encrypted_reasoning="always"), Dialect()
    assert "include" in body(user("Hi"), model=f"mine:{model}", dialect=always)
    assert "include" not in body(user("Hi"), model=f"mine:{model}", dialect=never)


async def test_an_answer_goes_back_as_it_came_item_by_item() -> None:
    output = [
        reasoning("hm"),
        message("I look.", phase="commentary"),
        {**SEARCH, "action": {"type": "search", "query": "x"}},
        reasoning(item_id="rs_2"),
        {**call(), "namespace": "files"},
        call("list", "{}", number=2),
    ]
    found = await answered(*output)
    stored = AssistantMessage.model_validate_json(found.model_dump_json())
    assert sent(stored, result(), result(2)) == [
        *output,
        {"type": "function_call_output", "call_id": "call_1", "output": ""},
        {"type": "function_call_output", "call_id": "call_2", "output": ""},
    ]


async def test_another_model_gets_the_words_and_the_calls_alone() -> None:
    found = await answered(reasoning("hm"), message("I look."), SEARCH, call())
    other_provider = found.model_copy(update={"model": "mine:gpt-5-mini"})
    for encoded, call_id in (
        (sent(found, result(), model="openai-responses:gpt-5.4"), "call_1"),
        (sent(other_provider, result()), "t1s1c1"),
    ):
        assert encoded == [
            {"role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": call_id, "name": "read", "arguments": '{"path":"a"}'},
            {"type": "function_call_output", "call_id": call_id, "output": ""},
        ]


def test_opaque_data_of_another_endpoint_stays_away() -> None:
    elsewhere = Opaque(origin="openai-responses:elsewhere.example", data={"item": reasoning("hm")})
    foreign = assistant(
        ReasoningPart(text="hm", opaque=elsewhere),
        TextPart(text="Hi", opaque=elsewhere),
        HOSTED.model_copy(update={"opaque": elsewhere}),
    )
    assert sent(foreign) == [{"role": "assistant", "content": "Hi"}]


async def test_reasoning_that_nothing_follows_is_left_out() -> None:
    found = await answered(message("Hi"), reasoning())
    assert sent(found) == [message("Hi")]


async def test_ids_stay_away_when_the_reasoning_beside_them_cannot_go_back() -> None:
    found = await answered(reasoning("hm", encrypted=None), message("Hi"), call())
    encoded = sent(found, result())
    assert [item.get("type") for item in encoded] == ["message", "function_call", "function_call_output"]
    assert not any("id" in item for item in encoded)
    assert encoded[1]["call_id"] == "call_1"


def test_an_answer_that_was_stopped_goes_back_as_far_as_it_went() -> None:
    stopped = assistant(ReasoningPart(text="hm"), TextPart(text="Hal"))
    assert sent(stopped) == [{"role": "assistant", "content": "Hal"}]
    assert sent(assistant(ReasoningPart(text="hm"), TextPart(text=""))) == []


async def test_pieces_of_one_message_go_back_as_one_item() -> None:
    content = [{"type": "output_text", "text": "Hi", "annotations": []}, {"type": "refusal", "refusal": "No."}]
    item = {**message(""), "content": content}
    assert sent(await answered(item, message("Bye", "msg_2"))) == [item, message("Bye", "msg_2")]


def test_ids_that_a_provider_repeats_are_replaced_by_ours_on_both_sides() -> None:
    twice = [CallPart(call_id=f"t1s1c{n}", tool="read", provider_call_id="call_0") for n in (1, 2)]
    encoded = sent(assistant(*twice), result(1), result(2))
    assert [item["call_id"] for item in encoded] == ["t1s1c1", "t1s1c2", "t1s1c1", "t1s1c2"]


def test_arguments_are_always_an_object() -> None:
    broken = CallPart(call_id="t1s1c1", tool="read", arguments_text='{"a', arguments=None)
    empty = CallPart(call_id="t1s1c2", tool="read", arguments_text="")
    encoded = sent(assistant(broken, empty), result(1), result(2))
    assert [json.loads(item["arguments"]) for item in encoded[:2]] == [{"invalid_json": '{"a'}, {}]


def test_a_forced_request_offers_no_tools_and_keeps_the_calls_of_its_history() -> None:
    asked = CallPart(call_id="t1s1c1", tool="fs.read")
    encoded = body(user("Read."), assistant(asked), result(text="A"), user("Answer now.", "u2"))
    assert "tools" not in encoded
    assert encoded["input"][1]["name"] == "fs_read"


def test_pictures_and_files_are_parts_of_the_message() -> None:
    parts: tuple[UserPart, ...] = (
        TextPart(text="Look:"),
        ImagePart(url="https://x.example/a.png"),
        ImagePart(media_type="image/jpeg", data=b"abc"),
        FilePart(media_type="application/pdf", name="a.pdf", data=b"abc"),
        FilePart(media_type="application/pdf", url="https://x.example/a.pdf"),
        FilePart(media_type="text/csv", name="a.csv", data=b"x,y"),
    )
    assert sent(UserMessage(message_id="u1", parts=parts))[0]["content"] == [
        {"type": "input_text", "text": "Look:"},
        {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "auto"},
        {"type": "input_image", "image_url": "data:image/jpeg;base64,YWJj", "detail": "auto"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,YWJj"},
        {"type": "input_file", "file_url": "https://x.example/a.pdf"},
        {"type": "input_text", "text": "File a.csv:\n\nx,y"},
    ]


def test_audio_is_refused_by_name() -> None:
    with pytest.raises(BadRequestError, match="audio/wav"):
        sent(UserMessage(message_id="u1", parts=(AudioPart(data=b"a"),)))


def test_a_result_without_text_is_its_data_and_an_assistants_picture_is_mentioned() -> None:
    assert sent(result(data={"a": 1}))[0]["output"] == '{"a": 1}'
    assert sent(assistant(ImagePart(data=b"a"))) == [{"role": "assistant", "content": "[image]"}]
