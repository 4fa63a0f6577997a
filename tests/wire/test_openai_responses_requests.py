from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.dialects import DIALECTS
from perdure.providers.http import Reply
from perdure.providers.openai_responses_decoding import ResponsesDecoder
from perdure.providers.openai_responses_encoding import encode
from perdure.providers.stream import Assembler
from perdure.providers.tool_names import tool_names
from tests.wire.comparing import Ways, conversations, explained, feed, provider_counts, told
from tests.wire.recordings import Exchange, needs_recordings, recorded
from tests.wire.responses_conversations import Conversation, Item
from tests.wire.test_openai_responses import TITLES

pytestmark = needs_recordings

ORIGIN = "openai-responses:api.openai.com"
REPLY = Reply("openai-responses", httpx.Response(200))
REPLAYED = {"openai-responses": 30, "deepseek": 2}
"""How many replies of each folder, as we decoded them, went back in its requests."""

LEFT_OUT = ("tool_search_output", "file_search_call")
"""Items that the provider made and the recorded client did not send back."""


def _hosted_tools(theirs: Item, ours: Item) -> None:
    theirs["tools"] = [tool for tool in theirs["tools"] if tool["type"] == "function"]


def _shorthand(theirs: Item, ours: Item) -> None:
    for tool in theirs["tools"]:
        if tool["type"] == "function":
            tool["description"] = tool.get("description") or ""


def _system_inside(theirs: Item, ours: Item) -> None:
    system = [item["content"] for item in theirs["input"] if item.get("role") == "system"]
    theirs["instructions"] = "\n\n".join(text for text in (theirs["instructions"], *system) if text)
    theirs["input"] = [item for item in theirs["input"] if item.get("role") != "system"]


def _no_place(theirs: Item, ours: Item) -> None:
    for tool in theirs["tools"]:
        if tool["type"] == "function":
            tool["strict"] = False
            tool.pop("defer_loading", None)
    made = [item.get("call_id") for item in ours["input"]]
    spoken = [item["call_id"] for item in ours["input"] if "namespace" in item]
    kept = []
    for item in theirs["input"]:
        match item:
            case {"type": "additional_tools"} | {"type": "tool_search_output", "execution": "client"}:
                continue
            case {"type": "tool_search_call", "execution": "client"} if item["call_id"] not in made:
                continue
            case {"type": "function_call"} if item["call_id"] not in spoken:
                item.pop("namespace", None)
            case {"type": "function_call_output", "output": list(output)}:
                item["output"] = json.dumps(output)
            case _:
                pass
        kept.append(item)
    theirs["input"] = kept


def _empty_text(theirs: Item, ours: Item) -> None:
    theirs["input"] = [item for item in theirs["input"] if item.get("role") != "assistant" or item["content"]]


def _rebuilt(theirs: Item, ours: Item) -> None:
    """Take from our items what the recorded client had left out of its own, if the rest is equal."""
    mine = iter(ours["input"])
    rebuilt = []
    for other in theirs["input"]:
        item: Item = next(mine, {})
        while item.get("type") in LEFT_OUT and item["type"] != other.get("type"):
            rebuilt.append(item)
            item = next(mine, {})
        rebuilt.append(item if _rebuilds(other, item) else other)
    theirs["input"] = rebuilt


def _rebuilds(other: Item, item: Item) -> bool:
    """Whether the recorded client's item is ours but for what it left out."""
    match item.get("type"):
        case "message" if isinstance(other.get("content"), str):
            return other == {"role": item["role"], "content": "".join(part["text"] for part in item["content"])}
        case "message":
            lean = [{key: part[key] for key in part if key != "logprobs"} for part in item["content"]]
            return other == {**item, "content": lean}
        case "reasoning" | "function_call":
            left_out = {"id", "status", "content"} - set(other)
            told = {key: value for key, value in other.items() if value is not None}
            return told == {key: item[key] for key in item if key not in left_out}
        case "tool_search_call":
            return {**other, "call_id": item["call_id"]} == item
        case _:
            return False


WAYS: Ways = {
    "hosted-tools": _hosted_tools,
    "shorthand": _shorthand,
    "system-inside": _system_inside,
    "no-place": _no_place,
    "empty-text": _empty_text,
    "rebuilt": _rebuilt,
}


def decoded_reply(exchange: Exchange, provider: str, message_id: str) -> AssistantMessage:
    """The message of a recorded reply."""
    decoder = ResponsesDecoder(REPLY, DIALECTS["openai"], ORIGIN)
    assembler = Assembler(message_id, f"{provider}:{exchange.request['model']}")
    feed(assembler, decoder, exchange.body)
    return assembler.message()


def requests(provider: str = "openai-responses") -> Iterator[tuple[Exchange, ModelRequest, int]]:
    """Every recorded request as one of ours, with how many of its assistant messages are decoded replies."""
    asked = (exchange for exchange in recorded(provider) if exchange.request and "/responses" in exchange.url)
    return conversations(
        asked,
        lambda: Conversation(provider),
        lambda exchange, message_id: decoded_reply(exchange, provider, message_id),
    )


def encoded(request: ModelRequest) -> Item:
    names = tool_names(request)
    return encode(request, DIALECTS["openai"], provider="openai-responses", origin=ORIGIN, names=names)


def compared(request: Item) -> Item:
    """What is compared of a request: the prompt, the messages and the tools."""
    found: Item = {
        "instructions": request.get("instructions") or "",
        "input": request["input"],
        "tools": request.get("tools", []),
    }
    return copy.deepcopy(found)


@pytest.mark.parametrize("provider", REPLAYED)
def test_every_recorded_request_is_encoded_as_the_vendors_client_did_or_differs_in_a_named_way(
    provider: str,
) -> None:
    counts: Counter[str] = Counter()
    for exchange, request, replayed in requests(provider):
        ways = explained(compared(exchange.request), compared(encoded(request)), WAYS)
        assert ways is not None, f"{exchange.name} differs in a way that has no name"
        counts["explained" if ways else "agree"] += 1
        counts["replayed"] += replayed
    assert counts["replayed"] == REPLAYED[provider]
    assert provider_counts(TITLES[provider])[3:] == (counts["agree"], counts["explained"], 0)


def test_every_way_to_differ_is_told_in_the_documentation_with_its_count() -> None:
    counts: Counter[str] = Counter()
    for provider in REPLAYED:
        for exchange, request, _ in requests(provider):
            counts.update(explained(compared(exchange.request), compared(encoded(request)), WAYS) or ())
    assert told("OpenAI Responses") == {name: counts[name] for name in WAYS}


def test_a_request_that_differs_in_any_other_way_is_found() -> None:
    theirs = {"input": [{"role": "user", "content": "Hi"}], "tools": []}
    other: list[Item] = [
        {"input": [{"role": "user", "content": "Ho"}]},
        {"input": [{"role": "assistant", "content": "Hi"}]},
        {"input": [*theirs["input"], {"role": "assistant", "content": "x"}]},
        {**theirs, "instructions": "Be brief."},
        {**theirs, "tools": [{"type": "function", "name": "read", "parameters": {}}]},
    ]
    for ours in other:
        assert explained(compared(theirs), compared(ours), WAYS) is None


def test_recorded_reasoning_goes_back_with_every_byte_of_what_was_encrypted() -> None:
    sent = [
        (item["id"], item["encrypted_content"])
        for exchange, request, _ in requests()
        for item in encoded(request)["input"]
        if item.get("type") == "reasoning"
    ]
    theirs = [
        (item["id"], item["encrypted_content"])
        for exchange, _, _ in requests()
        for item in exchange.request["input"]
        if item.get("type") == "reasoning"
    ]
    assert sent == theirs
    assert len(sent) == 10
