from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.contracts.ids import tail_message_id
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    CallPart,
    Message,
    Opaque,
    ReasoningPart,
    TextPart,
    ToolMessage,
    UserMessage,
)
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.anthropic_encoding import EMPTY, continued, encode
from perdure.providers.dialects import DIALECTS, Dialect
from perdure.providers.tool_names import tool_names
from tests.providers.anthropic_serving import MODEL, ORIGIN
from tests.providers.serving import user

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MARK = {"cache_control": {"type": "ephemeral"}}
SCHEMA = {"type": "object", "properties": {}}


def body(
    *messages: Message, dialect: Dialect = DIALECTS["anthropic"], model: str = MODEL, **fields: Any
) -> dict[str, Any]:
    request = ModelRequest(model=model, messages=messages, **fields)
    found = encode(request, dialect, provider="anthropic", origin=ORIGIN, names=tool_names(request), now=NOW)
    assert json.loads(json.dumps(found)) == found
    return found


def sent(*messages: Message, **fields: Any) -> list[dict[str, Any]]:
    """The messages of a request, without cache marks."""
    found = copy.deepcopy(body(*messages, **fields)["messages"])
    for message in found:
        for block in message["content"]:
            block.pop("cache_control", None)
    return list(found)


def assistant(*parts: AssistantPart | str, number: int = 1, **fields: Any) -> AssistantMessage:
    typed = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return AssistantMessage(message_id=f"t1s{number}", parts=typed, **{"model": MODEL, **fields})


def call(number: int = 1, provider_id: str = "toolu_1", text: str = '{"path": "a"}', **fields: Any) -> CallPart:
    arguments = {"arguments": json.loads(text), **fields}
    return CallPart(
        call_id=f"t1s1c{number}", tool="read_file", arguments_text=text, provider_call_id=provider_id, **arguments
    )


def result(number: int = 1, **fields: Any) -> ToolMessage:
    return ToolMessage(message_id=f"t1s1c{number}r", call_id=f"t1s1c{number}", tool="read_file", **fields)


def test_a_conversation_with_a_call_is_encoded_as_the_protocol_says() -> None:
    request = body(
        user("Read a."), assistant("I look.", call()), result(text="A"), assistant("It says A.", number=2),
        user("Thanks.", "u2"),
        system="Be brief.",
        tools=(ToolSpec(name="read_file", description="Read."),),
        max_output_tokens=100,
        temperature=0.5,
    )  # fmt: skip
    assert request == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "Be brief.", **MARK}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read a."}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": [{"type": "text", "text": "A"}],
                        "is_error": False,
                        **MARK,
                    }
                ],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "It says A."}]},
            {"role": "user", "content": [{"type": "text", "text": "Thanks.", **MARK}]},
        ],
        "stream": True,
        "tools": [{"name": "read_file", "description": "Read.", "input_schema": SCHEMA}],
        "temperature": 0.5,
    }


def test_what_is_not_asked_for_is_not_sent_but_for_the_limit_that_the_protocol_insists_on() -> None:
    assert set(body(user("Hi"))) == {"model", "max_tokens", "messages", "stream"}


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("anthropic:claude-sonnet-4-5", 32_000),
        ("anthropic:claude-3-5-haiku-latest", 8_192),
        ("anthropic:claude-3-haiku-20240307", 4_096),
        ("mine:qwen3", 32_000),
    ],
)
def test_the_limit_that_is_sent_unasked_is_one_that_the_model_takes(model: str, limit: int) -> None:
    assert body(user("Hi"), model=model)["max_tokens"] == limit
    assert body(user("Hi"), model=model, max_output_tokens=7)["max_tokens"] == 7


def test_results_of_a_turn_come_first_in_one_message_and_the_users_words_follow() -> None:
    history = (
        user("Read both."),
        assistant(call(1, "toolu_1"), call(2, "toolu_2")),
        result(1, text="A"),
        user("Hurry.", "u2"),
        result(2, text="no", status="error"),
        user("Please.", "u3"),
    )
    *_, last = sent(*history)
    assert [block["type"] for block in last["content"]] == ["tool_result", "tool_result", "text", "text"]
    assert [block["tool_use_id"] for block in last["content"][:2]] == ["toolu_1", "toolu_2"]
    assert [block["is_error"] for block in last["content"][:2]] == [False, True]
    assert [block["text"] for block in last["content"][2:]] == ["Hurry.", "Please."]


@pytest.mark.parametrize("status", ["error", "denied", "invalid", "interrupted", "unknown", "unavailable"])
def test_every_result_but_a_good_one_is_an_error_to_the_model(status: str) -> None:
    *_, last = sent(assistant(call()), result(text="x", status=status))
    assert last["content"][0]["is_error"] is True


def test_a_result_is_its_text_else_its_data_else_nothing() -> None:
    def content(**fields: Any) -> Any:
        return sent(assistant(call()), result(**fields))[1]["content"][0].get("content")

    assert content(text="A", data={"a": 1}) == [{"type": "text", "text": "A"}]
    assert content(data={"a": 1}) == [{"type": "text", "text": '{"a": 1}'}]
    assert content() is None
    assert content(text=" \n") is None


def test_messages_of_one_side_are_one_message() -> None:
    found = sent(user("a"), user("b", "u2"), assistant("c"), assistant("d", number=2), user("e", "u3"))
    assert [(message["role"], len(message["content"])) for message in found] == [
        ("user", 2),
        ("assistant", 2),
        ("user", 1),
    ]


def test_empty_texts_and_messages_without_blocks_are_left_out() -> None:
    empty = UserMessage(message_id="u1", parts=(TextPart(text=" \n"),))
    assert sent(empty) == [{"role": "user", "content": [{"type": "text", "text": EMPTY}]}]
    unsigned = assistant(ReasoningPart(text="hm"), " ")
    assert [message["role"] for message in sent(user("a"), unsigned, user("b", "u2"))] == ["user"]


def test_the_last_text_of_the_models_loses_the_white_space_at_its_end() -> None:
    assert sent(user("a"), assistant("b \n"))[1]["content"] == [{"type": "text", "text": "b"}]
    assert sent(user("a"), assistant("b "), user("c", "u2"))[1]["content"] == [{"type": "text", "text": "b "}]


def test_a_request_without_tools_names_the_tools_of_its_history_and_forbids_them() -> None:
    forced = body(
        user("Read a."), assistant(call()), result(text="A"), user("Answer now.", tail_message_id("guidance"))
    )
    assert forced["tools"] == [{"name": "read_file", "input_schema": {"type": "object"}, **MARK}]
    assert forced["tool_choice"] == {"type": "none"}
    offered = body(user("Read a."), assistant(call()), result(text="A"), tools=(ToolSpec(name="read_file"),))
    assert "tool_choice" not in offered


def test_a_schema_without_a_type_is_one_of_an_object() -> None:
    (tool,) = body(user("Hi"), tools=(ToolSpec(name="now", parameters={}),))["tools"]
    assert tool["input_schema"] == {"type": "object"}


def test_names_and_ids_are_sent_in_a_form_that_the_server_takes_alike_everywhere() -> None:
    dotted = CallPart(call_id="t1s1c1", tool="fs.read")
    encoded = body(assistant(dotted), result(), tools=(ToolSpec(name="fs.read"),))
    assert encoded["tools"][0]["name"] == encoded["messages"][0]["content"][0]["name"] == "fs_read"
    assert encoded["messages"][1]["content"][0]["tool_use_id"] == "t1s1c1"


@pytest.mark.parametrize(
    ("ids", "model"), [(("toolu_1", "toolu_1"), MODEL), (("call_1", "call_2"), "openai:gpt-5-mini"), (("", ""), MODEL)]
)
def test_ids_that_are_repeated_missing_or_of_another_provider_are_replaced_by_ours_on_both_sides(
    ids: tuple[str, str], model: str
) -> None:
    calls = assistant(call(1, ids[0]), call(2, ids[1]), model=model)
    found = sent(calls, result(1, text="A"), result(2, text="B"))
    assert [block["id"] for block in found[0]["content"]] == ["t1s1c1", "t1s1c2"]
    assert [block["tool_use_id"] for block in found[1]["content"]] == ["t1s1c1", "t1s1c2"]


def marks(encoded: dict[str, Any]) -> list[str]:
    """What carries a cache mark, in the order of the prompt."""
    tools = [tool["name"] for tool in encoded.get("tools", []) if "cache_control" in tool]
    system = [block["text"] for block in encoded.get("system", []) if "cache_control" in block]
    blocks = [block for message in encoded["messages"] for block in message["content"] if "cache_control" in block]
    return [*tools, *system, *(block.get("text") or block["content"][0]["text"] for block in blocks)]


def test_cache_marks_stand_behind_what_comes_again_and_never_behind_the_tail() -> None:
    tools = (ToolSpec(name="first"), ToolSpec(name="read_file"))
    history: tuple[Message, ...] = (user("Read a."),)
    tail = user("Answer now.", tail_message_id("guidance"))
    assert marks(body(*history, system="S", tools=tools)) == ["S", "Read a."]
    assert marks(body(*history, tools=tools)) == ["read_file", "Read a."]
    assert marks(body(*history)) == ["Read a."]
    history += (assistant(call()), result(text="A"))
    assert marks(body(*history, system="S", tools=tools)) == ["S", "Read a.", "A"]
    assert marks(body(*history, tail, system="S", tools=tools)) == ["S", "Read a.", "A"]
    history += (assistant("Done.", number=2), user("More.", "u2"))
    assert marks(body(*history, system="S")) == ["S", "A", "More."]


def test_a_later_request_repeats_an_earlier_one_up_to_its_last_mark() -> None:
    def prefix(*messages: Message) -> list[Any]:
        return [block for message in sent(*messages) for block in message["content"]]

    history = (user("Read a."), assistant("I look.", call()), result(text="A"))
    tail = user("Answer now.", tail_message_id("guidance"))
    earlier = prefix(*history, tail)
    later = prefix(*history, assistant("Done.", number=2), user("More.", "u2"))
    assert later[: len(earlier) - 1] == earlier[:-1]


@pytest.mark.parametrize(
    ("flag", "asked", "expected"),
    [
        (0, None, None),
        ("adaptive", None, {"type": "adaptive"}),
        (4_096, None, {"type": "enabled", "budget_tokens": 4_096}),
        (4_096, 3_000, {"type": "enabled", "budget_tokens": 2_999}),
        (4_096, 1_024, None),
        (100, None, None),
    ],
)
def test_thinking_is_asked_for_within_the_bounds_of_the_protocol_and_without_temperature(
    flag: Any, asked: int | None, expected: dict[str, Any] | None
) -> None:
    encoded = body(user("Hi"), dialect=Dialect(thinking=flag), max_output_tokens=asked, temperature=0.5)
    assert encoded.get("thinking") == expected
    assert encoded.get("temperature") == (0.5 if expected is None else None)


def test_the_container_of_the_last_answer_goes_along_while_it_lives() -> None:
    def container(expires: str, origin: str = ORIGIN) -> Any:
        data: dict[str, Any] = {"container": {"id": "container_1", "expires_at": expires}}
        ran = assistant(TextPart(text="Done.", opaque=Opaque(origin=origin, data=data)))
        assert sent(user("a"), ran, user("b", "u2"))[1]["content"] == [{"type": "text", "text": "Done."}]
        return body(user("a"), ran, user("b", "u2")).get("container")

    assert container("2026-01-01T00:00:01Z") == "container_1"
    assert container("2025-12-31T23:59:59Z") is None
    assert container("") == "container_1"
    assert container("2026-01-01T00:00:01Z", "anthropic:elsewhere.example") is None


def test_a_paused_answer_is_put_at_the_end_and_joins_what_was_put_there_before() -> None:
    first = body(user("a"))
    block: dict[str, Any] = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    once = continued(first, [block], {})
    twice = continued(once, [{**block, "id": "s2"}], {"id": "container_1"})
    assert once["messages"] == [*first["messages"], {"role": "assistant", "content": [block]}]
    assert twice["messages"] == [*first["messages"], {"role": "assistant", "content": [block, {**block, "id": "s2"}]}]
    assert ("container" in once, twice["container"]) == (False, "container_1")
