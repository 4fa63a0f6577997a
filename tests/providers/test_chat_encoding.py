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
from perdure.providers.chat_encoding import encode
from perdure.providers.dialects import DIALECTS, Dialect
from perdure.providers.tool_names import tool_names

MODEL = "openai:gpt-5-mini"
ORIGIN = "openai-chat:api.openai.com"


def body(
    *messages: Message, dialect: Dialect = DIALECTS["openai"], model: str = MODEL, **fields: Any
) -> dict[str, Any]:
    request = ModelRequest(model=model, messages=messages, **fields)
    return encode(request, dialect, provider="openai", origin=ORIGIN, names=tool_names(request))


def sent(*messages: Message, dialect: Dialect = DIALECTS["openai"], model: str = MODEL) -> list[dict[str, Any]]:
    encoded = body(*messages, dialect=dialect, model=model)
    assert json.loads(json.dumps(encoded)) == encoded
    return list(encoded["messages"])


def user(*parts: UserPart | str) -> UserMessage:
    return UserMessage(
        message_id="u1", parts=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    )


def assistant(*parts: AssistantPart | str, model: str = MODEL) -> AssistantMessage:
    typed = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return AssistantMessage(message_id="t1s1", parts=typed, model=model)


def call(number: int = 1, provider_id: str = "call_abc", text: str = '{"path": "a"}', **fields: Any) -> CallPart:
    return CallPart(
        call_id=f"t1s1c{number}", tool="read_file", arguments_text=text, provider_call_id=provider_id, **fields
    )


def result(number: int = 1, **fields: Any) -> ToolMessage:
    return ToolMessage(message_id=f"t1s1c{number}r", call_id=f"t1s1c{number}", tool="read_file", **fields)


def test_a_conversation_with_a_call_is_encoded_as_the_protocol_says() -> None:
    request = body(
        user("Read a."), assistant("I look.", call()), result(text="A"), assistant("It says A."),
        system="Be brief.",
        tools=(ToolSpec(name="read_file", description="Read."),),
        max_output_tokens=100,
        temperature=0.5,
    )  # fmt: skip
    assert request == {
        "model": "gpt-5-mini",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Read a."},
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "call_abc",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"path": "a"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_abc", "content": "A"},
            {"role": "assistant", "content": "It says A."},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Read.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "max_completion_tokens": 100,
        "temperature": 0.5,
    }


def test_what_is_not_asked_for_is_not_sent() -> None:
    assert set(body(user("Hi"))) == {"model", "messages", "stream", "stream_options"}


def test_a_dialect_names_role_and_limit_and_may_do_without_stream_options() -> None:
    dialect = Dialect(system_role="developer", output_limit="max_tokens", stream_usage=False)
    encoded = body(user("Hi"), dialect=dialect, system="S", max_output_tokens=5)
    assert encoded["messages"][0]["role"] == "developer"
    assert encoded["max_tokens"] == 5
    assert "stream_options" not in encoded


def test_pictures_sounds_and_files_are_parts_of_the_message() -> None:
    (message,) = sent(
        user(
            "Look:",
            ImagePart(url="https://x.example/a.png"),
            ImagePart(media_type="image/jpeg", data=b"abc"),
            AudioPart(media_type="audio/mpeg", data=b"abc"),
            FilePart(media_type="application/pdf", name="a.pdf", data=b"abc"),
            FilePart(media_type="text/csv", name="a.csv", data=b"x,y"),
        )
    )
    assert message["content"] == [
        {"type": "text", "text": "Look:"},
        {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,YWJj"}},
        {"type": "input_audio", "input_audio": {"data": "YWJj", "format": "mp3"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,YWJj"}},
        {"type": "text", "text": "File a.csv:\n\nx,y"},
    ]


@pytest.mark.parametrize(
    ("part", "named"),
    [
        (AudioPart(media_type="audio/ogg", data=b"a"), "audio/ogg"),
        (AudioPart(url="https://x.example/a.wav"), "audio/wav by address"),
        (FilePart(media_type="application/pdf", url="https://x.example/a.pdf"), "application/pdf by address"),
    ],
)
def test_what_the_protocol_cannot_carry_is_refused_by_name(part: UserPart, named: str) -> None:
    with pytest.raises(BadRequestError, match=named):
        sent(user(part))


def test_a_server_that_takes_text_alone_gets_one_text_or_a_clear_refusal() -> None:
    assert sent(user("a", "b"), dialect=DIALECTS["deepseek"]) == [{"role": "user", "content": "a\n\nb"}]
    with pytest.raises(BadRequestError, match="the message holds image"):
        sent(user("a", ImagePart(url="https://x.example/a.png")), dialect=DIALECTS["deepseek"])


def test_a_call_without_text_has_null_content_and_arguments_that_are_always_an_object() -> None:
    message = assistant(call(1, "a", ""), call(2, "b", '{"path": "a', arguments=None))
    encoded = sent(message, result(1), result(2))[0]
    assert encoded["content"] is None
    arguments = [json.loads(entry["function"]["arguments"]) for entry in encoded["tool_calls"]]
    assert arguments == [{}, {"invalid_json": '{"path": "a'}]


def test_ids_that_a_provider_repeats_are_replaced_by_ours_on_both_sides() -> None:
    encoded = sent(assistant(call(1, "call_0"), call(2, "call_0"), call(3, "call_3")), result(1), result(2), result(3))
    ids = ["t1s1c1", "t1s1c2", "call_3"]
    assert [entry["id"] for entry in encoded[0]["tool_calls"]] == ids
    assert [message["tool_call_id"] for message in encoded[1:]] == ids


def test_ids_of_another_provider_and_missing_ones_are_replaced_by_ours() -> None:
    other = sent(assistant(call(1, "toolu_1"), model="anthropic:claude-sonnet-4-5"), result(1))
    missing = sent(assistant(call(1, "")), result(1))
    for encoded in (other, missing):
        assert encoded[0]["tool_calls"][0]["id"] == encoded[1]["tool_call_id"] == "t1s1c1"


def test_a_server_that_wants_nine_letters_and_digits_gets_them_and_its_own_back() -> None:
    dialect, model = DIALECTS["mistral"], "mistral:mistral-medium-latest"
    message = assistant(call(1, "D681PevKs"), call(2, "call_abc"), model=model)
    encoded = sent(message, result(1), result(2), dialect=dialect, model=model)
    own, mapped = (entry["id"] for entry in encoded[0]["tool_calls"])
    assert own == "D681PevKs"
    assert len(mapped) == 9
    assert mapped.isalnum()
    assert [entry["tool_call_id"] for entry in encoded[1:3]] == [own, mapped]


def test_a_server_that_takes_no_user_message_after_a_result_gets_a_word_between() -> None:
    history = (assistant(call()), result(text="A"), user("And?"))
    roles = [message["role"] for message in sent(*history, dialect=DIALECTS["mistral"])]
    assert roles == ["assistant", "tool", "assistant", "user"]
    assert [message["role"] for message in sent(*history)] == ["assistant", "tool", "user"]


def test_reasoning_goes_back_with_calls_to_the_model_that_thought_it_and_to_no_other() -> None:
    def replayed(dialect: str, model: str) -> object:
        message = assistant(ReasoningPart(text="hm"), call(), model="deepseek:deepseek-chat")
        return sent(message, result(), dialect=DIALECTS[dialect], model=model)[0].get("reasoning_content")

    assert replayed("deepseek", "deepseek:deepseek-chat") == "hm"
    assert replayed("deepseek", "deepseek:deepseek-reasoner") is None
    assert replayed("openai", "deepseek:deepseek-chat") is None
    without_calls = assistant(ReasoningPart(text="hm"), "Yes.", model="deepseek:deepseek-chat")
    encoded = sent(without_calls, dialect=DIALECTS["deepseek"], model="deepseek:deepseek-chat")
    assert encoded == [{"role": "assistant", "content": "Yes."}]


def test_opaque_reasoning_and_call_data_return_verbatim_to_their_origin_alone() -> None:
    details = [{"type": "reasoning.encrypted", "data": "b64", "index": 0}]
    extra = {"google": {"thought_signature": "sig"}}

    def encoded(origin: str) -> dict[str, Any]:
        thought = ReasoningPart(text="hm", opaque=Opaque(origin=origin, data={"reasoning_details": details}))
        signed = call(opaque=Opaque(origin=origin, data={"extra_content": extra}))
        return sent(assistant(thought, signed), result(), dialect=DIALECTS["openrouter"])[0]

    ours, foreign = encoded(ORIGIN), encoded("openai-chat:elsewhere.example")
    assert ours["reasoning_details"] == details
    assert ours["tool_calls"][0]["extra_content"] == extra
    assert "reasoning_details" not in foreign
    assert "extra_content" not in foreign["tool_calls"][0]


def test_an_assistant_message_without_text_and_calls_is_left_out_and_pictures_are_mentioned() -> None:
    assert sent(assistant(ReasoningPart(text="hm")), user("Hi")) == [{"role": "user", "content": "Hi"}]
    assert sent(assistant("See: ", ImagePart(data=b"a"))) == [{"role": "assistant", "content": "See: [image]"}]


def test_a_result_without_text_is_its_data() -> None:
    assert sent(result(data={"a": 1}))[0]["content"] == '{"a": 1}'
    assert sent(result())[0]["content"] == ""


def test_a_name_is_mapped_alike_in_tools_and_in_history() -> None:
    dotted = CallPart(call_id="t1s1c1", tool="fs.read")
    encoded = body(assistant(dotted), result(), tools=(ToolSpec(name="fs.read"),))
    assert encoded["tools"][0]["function"]["name"] == "fs_read"
    assert encoded["messages"][0]["tool_calls"][0]["function"]["name"] == "fs_read"


def test_the_conversations_cache_key_goes_to_servers_that_know_it_in_a_length_that_they_take() -> None:
    assert body(user("Hi"), cache_key="run-1")["prompt_cache_key"] == "run-1"
    assert len(body(user("Hi"), cache_key="r" * 200)["prompt_cache_key"]) == 64
    assert "prompt_cache_key" not in body(user("Hi"), cache_key="run-1", dialect=DIALECTS["groq"])
