from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from perdure.contracts.errors import ProviderError
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.chat_decoding import ChatDecoder
from perdure.providers.chat_encoding import encode
from perdure.providers.dialects import DIALECTS, Dialect
from perdure.providers.http import Reply
from perdure.providers.lenient import loads
from perdure.providers.stream import Assembler
from perdure.providers.tool_names import tool_names
from tests.wire.chat_conversations import NO_PART, Conversation, Json, text_of
from tests.wire.comparing import Ways, conversations, explained, feed, provider_counts, told
from tests.wire.recordings import Exchange, needs_recordings, recorded
from tests.wire.test_openai_chat import TITLES

pytestmark = needs_recordings

REPLAYED = {
    "openai-chat": 53, "deepseek": 3, "groq": 0, "mistral": 8, "openrouter": 2,
    "cerebras": 1, "crusoe": 1, "huggingface": 0, "ollama": 0, "zai": 1,
}  # fmt: skip
"""How many replies of each folder, as we decoded them, went back in its requests."""

NAMES = {"openai-chat": "openai", "crusoe": "vllm", "huggingface": "compatible"}
"""Our dialect where the folder's name is another."""


def _hosted_tools(theirs: Json, ours: Json) -> None:
    theirs["tools"] = [tool for tool in theirs["tools"] if "function" in tool]


def _shorthand(theirs: Json, ours: Json) -> None:
    for tool in theirs["tools"]:
        if "function" in tool:
            tool.setdefault("type", "function")
            tool["function"]["description"] = tool["function"].get("description") or ""
    for message in theirs["messages"]:
        content = message.get("content")
        if message["role"] == "user":
            for holder in (message, *(content if isinstance(content, list) else ())):
                for key in [key for key in holder if holder[key] is None]:
                    del holder[key]
        whole = isinstance(content, list) and (message["role"] != "user" or len(content) == 1)
        if whole and all(part["type"] == "text" for part in content):
            message["content"] = text_of(content)


def _system_inside(theirs: Json, ours: Json) -> None:
    system = [message for message in theirs["messages"] if message["role"] in ("system", "developer")]
    if system:
        said = "\n\n".join(text_of(message["content"]) for message in system)
        others = [message for message in theirs["messages"] if message not in system]
        theirs["messages"] = [{"role": "system", "content": said}, *others]


def _no_place(theirs: Json, ours: Json) -> None:
    for tool in theirs["tools"]:
        for holder in (tool, tool.get("function", {})):
            for key in ("strict", "eager_input_streaming"):
                holder.pop(key, None)
    for message in theirs["messages"]:
        message.pop("prefix", None)
        if message["role"] == "user" and isinstance(message["content"], list):
            content = [part for part in message["content"] if not _placeless(part)]
            # A single text that is left is told as one.
            message["content"] = content[0]["text"] if [part["type"] for part in content] == ["text"] else content
    theirs["messages"] = [m for m in theirs["messages"] if m["role"] != "user" or m["content"]]


def _placeless(part: Json) -> bool:
    return part["type"] in NO_PART or "file_id" in part.get("file", {})


def _rebuilt(theirs: Json, ours: Json) -> None:
    """Take from our assistant messages the forms in which the recorded client had rebuilt its own."""
    for position, (other, mine) in enumerate(zip(theirs["messages"], ours["messages"], strict=False)):
        if mine["role"] == other["role"] == "assistant" and _said(mine) == _said(other) and _thought(other, mine):
            theirs["messages"][position] = mine


def _said(message: Json) -> tuple[Any, ...]:
    calls = [{"type": "function", **call} for call in message.get("tool_calls") or []]
    for call in calls:
        call["function"] = {**call["function"], "arguments": loads(call["function"]["arguments"])}
        call.pop("index", None)
    return text_of(message.get("content")), calls


def _thought(other: Json, mine: Json) -> bool:
    """Whether the reasoning that ours sends is the recorded one."""
    return all(other.get(key) == mine[key] for key in mine if key.startswith("reasoning"))


WAYS: Ways = {
    "hosted-tools": _hosted_tools,
    "shorthand": _shorthand,
    "no-place": _no_place,
    "system-inside": _system_inside,
    "rebuilt": _rebuilt,
}


def decoded_reply(exchange: Exchange, provider: str, message_id: str) -> AssistantMessage:
    """The message of a recorded reply; as far as it went, when it ends in an error."""
    decoder = ChatDecoder(Reply(provider, httpx.Response(200)), dialect_of(provider), origin_of(provider))
    assembler = Assembler(message_id, f"{provider}:{exchange.request['model']}")
    with suppress(ProviderError):
        feed(assembler, decoder, exchange.body)
    return assembler.message()


def requests(provider: str) -> Iterator[tuple[Exchange, ModelRequest, int]]:
    """Every recorded request as one of ours, with how many of its assistant messages are decoded replies."""
    asked = (exchange for exchange in recorded(provider) if "chat/completions" in exchange.url)
    return conversations(
        asked,
        lambda: Conversation(provider),
        lambda exchange, message_id: decoded_reply(exchange, provider, message_id),
    )


def dialect_of(provider: str) -> Dialect:
    return DIALECTS[NAMES.get(provider, provider)]


def origin_of(provider: str) -> str:
    return f"openai-chat:{provider}"


def encoded(request: ModelRequest, provider: str) -> Json:
    names = tool_names(request)
    return encode(request, dialect_of(provider), provider=provider, origin=origin_of(provider), names=names)


def compared(request: Json) -> Json:
    """What is compared of a request: the messages and the tools, without marks for a cache."""
    found: Json = copy.deepcopy({"messages": request["messages"], "tools": request.get("tools") or []})
    for message in found["messages"]:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            part.pop("cache_control", None)
    for tool in found["tools"]:
        tool.pop("cache_control", None)
    return found


@pytest.mark.parametrize("provider", REPLAYED)
def test_every_recorded_request_is_encoded_as_the_vendors_client_did_or_differs_in_a_named_way(provider: str) -> None:
    counts: Counter[str] = Counter()
    for exchange, request, replayed in requests(provider):
        ways = explained(compared(exchange.request), compared(encoded(request, provider)), WAYS)
        assert ways is not None, f"{exchange.name} differs in a way that has no name"
        counts["explained" if ways else "agree"] += 1
        counts["replayed"] += replayed
    assert counts["replayed"] == REPLAYED[provider]
    assert provider_counts(TITLES[provider])[3:] == (counts["agree"], counts["explained"], 0)


def test_every_way_to_differ_is_told_in_the_documentation_with_its_count() -> None:
    counts: Counter[str] = Counter()
    for provider in REPLAYED:
        for exchange, request, _ in requests(provider):
            counts.update(explained(compared(exchange.request), compared(encoded(request, provider)), WAYS) or ())
    assert told("OpenAI Chat") == {name: counts[name] for name in WAYS}


def test_a_request_that_differs_in_any_other_way_is_found() -> None:
    theirs: Json = {"messages": [{"role": "user", "content": "Hi"}], "tools": []}
    thought = {"role": "assistant", "content": "Ho", "reasoning_content": "a"}
    other: list[tuple[Json, Json]] = [
        (theirs, {"messages": [{"role": "user", "content": "Ho"}]}),
        (theirs, {"messages": [{"role": "assistant", "content": "Hi"}]}),
        (theirs, {"messages": [*theirs["messages"], {"role": "assistant", "content": "x"}]}),
        (theirs, {**theirs, "tools": [{"type": "function", "function": {"name": "read", "description": ""}}]}),
        ({"messages": [thought]}, {"messages": [{**thought, "reasoning_content": "b"}]}),
    ]
    for recorded_request, ours in other:
        assert explained(compared(recorded_request), compared(ours), WAYS) is None
