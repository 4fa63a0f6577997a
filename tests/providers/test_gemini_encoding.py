from __future__ import annotations

from typing import Any

import pytest

from perdure.contracts.errors import BadRequestError
from perdure.contracts.messages import (
    AudioPart,
    FilePart,
    HostedPart,
    ImagePart,
    Opaque,
    ReasoningPart,
    TextPart,
    ToolMessage,
)
from perdure.contracts.tools import ToolSpec
from perdure.providers.dialects import Dialect
from perdure.providers.gemini_encoding import UNSIGNED
from tests.providers.gemini_messages import ORIGIN, SIGNED, assistant, body, call, result, sent, user


def responses(*results: ToolMessage) -> list[Any]:
    content = sent(user("Hi"), assistant(*(call(number) for number in range(1, len(results) + 1))), *results)[2]
    return [part["functionResponse"]["response"] for part in content["parts"]]


def test_a_conversation_with_a_call_is_encoded_as_the_protocol_says() -> None:
    request = body(
        user("Read a."),
        assistant(ReasoningPart(text="Hm."), "I look.", call(provider_id="xyz")),
        result(text="A"),
        assistant("It says A.", TextPart(text="", opaque=SIGNED), message_id="t1s2"),
        system="Be brief.",
        tools=(ToolSpec(name="read", description="Read."),),
        max_output_tokens=100,
        temperature=0.5,
    )
    assert request == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Read a."}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Hm.", "thought": True},
                    {"text": "I look."},
                    {
                        "functionCall": {"id": "xyz", "name": "read", "args": {"path": "a"}},
                        "thoughtSignature": "c2ln",
                    },
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "xyz", "name": "read", "response": {"output": "A"}}}],
            },
            {"role": "model", "parts": [{"text": "It says A."}, {"text": "", "thoughtSignature": "c2ln"}]},
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read",
                        "description": "Read.",
                        "parametersJsonSchema": {"type": "object", "properties": {}},
                    }
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 100, "temperature": 0.5},
    }


def test_what_is_not_asked_for_is_not_sent() -> None:
    assert body(user("Hi")) == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


@pytest.mark.parametrize(
    ("thinking", "config"),
    [("adaptive", {"includeThoughts": True}), (2048, {"includeThoughts": True, "thinkingBudget": 2048})],
)
def test_reasoning_is_asked_for_where_the_dialect_says_so(thinking: Any, config: object) -> None:
    asked = body(user("Hi"), dialect=Dialect(thinking=thinking))
    assert asked["generationConfig"] == {"thinkingConfig": config}


def test_a_request_without_tools_after_calls_declares_them_and_forbids_to_call() -> None:
    request = body(user("Hi"), assistant(call(), call(2)), result(text="A"), result(2, text="B"))
    schema = {"type": "object", "properties": {}}
    assert request["tools"] == [
        {"functionDeclarations": [{"name": "read", "description": "", "parametersJsonSchema": schema}]}
    ]
    assert request["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}


def test_a_schema_goes_as_it_is_but_for_the_word_on_its_draft() -> None:
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/x"}},
        "$defs": {"x": {"type": ["string", "null"], "const": "a"}},
    }
    tools = body(user("Hi"), tools=(ToolSpec(name="t", parameters=schema),))["tools"]
    declared = tools[0]["functionDeclarations"][0]["parametersJsonSchema"]
    assert declared == {key: value for key, value in schema.items() if key != "$schema"}


def test_results_of_one_step_stand_together_and_apart_from_what_people_say_next() -> None:
    contents = sent(
        user("Read both."),
        assistant(call(), call(2, opaque=None)),
        result(text="A"),
        result(2, text="B"),
        user("And?"),
        user("Well?"),
    )
    assert [[*part] for content in contents for part in content["parts"]] == [
        ["text"],
        ["functionCall", "thoughtSignature"],
        ["functionCall"],
        ["functionResponse"],
        ["functionResponse"],
        ["text"],
        ["text"],
    ]
    assert [(content["role"], len(content["parts"])) for content in contents] == [
        ("user", 1),
        ("model", 2),
        ("user", 2),
        ("user", 2),
    ]


def test_a_result_is_an_object_and_a_failure_is_called_one() -> None:
    assert responses(
        result(text="A"),
        result(2, data={"a": 1}),
        result(3, data=[1]),
        result(4, text="said", data={"a": 1}),
        result(5),
        result(6, status="denied", text="No."),
        result(7, status="error", data={"code": 3}),
    ) == [
        {"output": "A"},
        {"a": 1},
        {"output": [1]},
        {"output": "said"},
        {"output": ""},
        {"error": "No."},
        {"error": '{"code": 3}'},
    ]


def test_a_call_without_an_id_or_with_a_repeated_one_is_paired_by_ours() -> None:
    contents = sent(
        user("Hi"), assistant(call(provider_id="x"), call(2, provider_id="x"), call(3)),
        result(text="A"), result(2, text="B"), result(3, text="C"),
    )  # fmt: skip
    calls = [part["functionCall"]["id"] for part in contents[1]["parts"]]
    answers = [part["functionResponse"]["id"] for part in contents[2]["parts"]]
    assert calls == answers == ["t1s1c1", "t1s1c2", "t1s1c3"]


def test_another_providers_call_gets_our_id_and_no_data_of_its_maker() -> None:
    foreign = call(provider_id="call_1", opaque=Opaque(origin="openai-chat:api.openai.com", data={"extra": 1}))
    contents = sent(
        user("Hi"), assistant(foreign, call(2), model="openai:gpt-5"), result(text="A"), result(2, text="B")
    )
    assert contents[1]["parts"] == [
        {"functionCall": {"id": "t1s1c1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": UNSIGNED},
        {"functionCall": {"id": "t1s1c2", "name": "read", "args": {"path": "a"}}},
    ]


@pytest.mark.parametrize(
    ("model", "signature"),
    [
        ("gemini-3-pro", UNSIGNED),
        ("gemini-flash-latest", UNSIGNED),
        ("gemini-2.5-flash", None),
        ("models/gemini-2.0-flash", None),
        ("gemma-3-27b", None),
    ],
)
def test_a_first_call_without_a_signature_gets_the_placeholder_where_one_is_asked_for(
    model: str, signature: str | None
) -> None:
    contents = sent(
        user("Hi"), assistant(call(opaque=None), model=f"gemini:{model}"), result(text="A"), model=f"gemini:{model}"
    )
    assert contents[1]["parts"][0].get("thoughtSignature") == signature


def test_opaque_data_goes_to_the_model_and_the_origin_that_made_it_alone() -> None:
    elsewhere = Opaque(origin="gemini:proxy.example", data={"thoughtSignature": "b3RoZXI="})
    parts = (TextPart(text="a", opaque=SIGNED), TextPart(text="b", opaque=elsewhere), TextPart(text="", opaque=SIGNED))
    (own,) = sent(assistant(*parts))
    assert own["parts"] == [
        {"text": "a", "thoughtSignature": "c2ln"},
        {"text": "b"},
        {"text": "", "thoughtSignature": "c2ln"},
    ]
    (other,) = sent(assistant(*parts, model="gemini:gemini-2.5-pro"))
    assert other["parts"] == [{"text": "a"}, {"text": "b"}]


def test_reasoning_goes_back_to_its_own_model_alone() -> None:
    parts = (ReasoningPart(text="Hm.", opaque=SIGNED), ReasoningPart(text="Ah."), ReasoningPart(), TextPart(text="b"))
    (own,) = sent(assistant(*parts))
    assert own["parts"] == [
        {"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"},
        {"text": "Ah.", "thought": True},
        {"text": "b"},
    ]
    (other,) = sent(assistant(*parts, model="openai:gpt-5"))
    assert other["parts"] == [{"text": "b"}]


def test_hosted_parts_go_back_as_they_came_and_elsewhere_as_a_word() -> None:
    block: dict[str, Any] = {"executableCode": {"code": "1+1", "language": "PYTHON"}, "thoughtSignature": "c2ln"}
    ran = HostedPart(tool="executableCode", text="1+1", opaque=Opaque(origin=ORIGIN, data={"part": block}))
    told = HostedPart(
        tool="groundingMetadata", text="q", opaque=Opaque(origin=ORIGIN, data={"groundingMetadata": {"a": 1}})
    )
    (own,) = sent(assistant(ran, "Two.", told))
    assert own["parts"] == [block, {"text": "Two."}]
    searched = HostedPart(tool="web_search_call", opaque=Opaque(origin="openai-responses:api.openai.com"))
    (other,) = sent(assistant(ran, searched, "Two.", model="gemini:gemini-2.5-pro"))
    assert other["parts"] == [{"text": "[executableCode] 1+1"}, {"text": "[web_search_call]"}, {"text": "Two."}]


def test_a_step_of_googles_own_that_was_cut_off_before_its_result_is_left_out() -> None:
    kinds = ("executableCode", "codeExecutionResult", "toolCall", "executableCode")
    ran = [HostedPart(tool=kind, opaque=Opaque(origin=ORIGIN, data={"part": {kind: {}}})) for kind in kinds]
    whole = assistant(*ran, "So")
    (content,) = sent(whole.model_copy(update={"finish": "interrupted"}))
    assert content["parts"] == [{"executableCode": {}}, {"codeExecutionResult": {}}, {"text": "So"}]
    assert len(sent(whole)[0]["parts"]) == 5


def test_arguments_that_are_no_json_are_quoted_in_an_object() -> None:
    contents = sent(user("Hi"), assistant(call(arguments=None, arguments_text='{"path')), result(text="bad"))
    assert contents[1]["parts"][0]["functionCall"]["args"] == {"invalid_json": '{"path'}


def test_a_turn_without_content_is_left_out_and_the_messages_around_it_are_one() -> None:
    assert sent(user("Hi"), assistant("", ReasoningPart(), model="openai:gpt-5"), user("Well?")) == [
        {"role": "user", "parts": [{"text": "Hi"}, {"text": "Well?"}]}
    ]


def test_pictures_sounds_and_files_are_parts_of_the_message() -> None:
    (content,) = sent(
        user(
            "Look:",
            ImagePart(media_type="image/jpeg", data=b"abc"),
            ImagePart(url="data:image/webp;base64,YWJj"),
            AudioPart(media_type="audio/mpeg", data=b"abc"),
            FilePart(media_type="application/pdf", name="a.pdf", data=b"abc"),
            FilePart(media_type="application/json", name="a.json", data=b'{"a": 1}'),
            FilePart(media_type="text/csv", data=b"x,y"),
            FilePart(media_type="video/mp4", url="https://youtu.be/x"),
            FilePart(url="https://generativelanguage.googleapis.com/v1beta/files/y"),
        )
    )
    assert content["parts"] == [
        {"text": "Look:"},
        {"inlineData": {"mimeType": "image/jpeg", "data": "YWJj"}},
        {"inlineData": {"mimeType": "image/webp", "data": "YWJj"}},
        {"inlineData": {"mimeType": "audio/mpeg", "data": "YWJj"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "YWJj"}},
        {"text": 'File a.json:\n\n{"a": 1}'},
        {"text": "File without a name:\n\nx,y"},
        {"fileData": {"fileUri": "https://youtu.be/x", "mimeType": "video/mp4"}},
        {"fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/y"}},
    ]


def test_a_picture_that_the_assistant_made_goes_back_as_its_own() -> None:
    inline = {"inlineData": {"mimeType": "image/png", "data": "YWJj"}}
    assert sent(assistant(ImagePart(data=b"abc"))) == [{"role": "model", "parts": [inline]}]


def test_a_part_without_data_and_address_is_refused_by_name() -> None:
    with pytest.raises(BadRequestError, match="gemini: the message holds audio without data and without an address"):
        sent(user(AudioPart()))
