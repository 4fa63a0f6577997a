from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from perdure.contracts.errors import ProviderError
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.chat_decoding import ChatDecoder
from perdure.providers.chat_encoding import encode, tool_names
from perdure.providers.dialects import DIALECTS, Dialect
from perdure.providers.http import Reply
from perdure.providers.lenient import loads
from perdure.providers.payloads import Payload
from perdure.providers.sse import SseReader
from perdure.providers.stream import Assembler
from tests.wire.chat_conversations import NO_PART, Conversation, Json, text_of
from tests.wire.recordings import Exchange, needs_recordings, recorded

pytestmark = needs_recordings

DOCUMENT = Path(__file__).parents[2] / "docs" / "providers-wire.md"

EXPECTED = {
    "openai-chat": (68, 55, 53),
    "deepseek": (2, 3, 3),
    "groq": (31, 0, 0),
    "mistral": (5, 23, 8),
    "openrouter": (15, 24, 2),
    "cerebras": (7, 1, 1),
    "crusoe": (1, 2, 1),
    "huggingface": (2, 2, 0),
    "ollama": (1, 0, 0),
    "zai": (4, 1, 1),
}
"""Per folder: requests that agree, requests that differ in a named way, replies of ours that went back in them."""

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


WAYS: dict[str, Callable[[Json, Json], None]] = {
    "hosted-tools": _hosted_tools,
    "shorthand": _shorthand,
    "no-place": _no_place,
    "system-inside": _system_inside,
    "rebuilt": _rebuilt,
}
"""How a request of ours may differ from the recorded one. What each one means stands in docs/providers-wire.md."""


def decoded_reply(exchange: Exchange, provider: str, message_id: str) -> AssistantMessage:
    """The message of a recorded reply; as far as it went, when it ends in an error."""
    decoder = ChatDecoder(Reply(provider, httpx.Response(200)), dialect_of(provider), origin_of(provider))
    assembler = Assembler(message_id, f"{provider}:{exchange.request['model']}")
    try:
        for value in values_of(exchange.body):
            for piece in decoder.feed(Payload("", value)):
                assembler.add(piece)
        for piece in decoder.end():
            assembler.add(piece)
    except ProviderError:
        pass
    return assembler.message()


def values_of(body: bytes) -> list[Any]:
    if body.lstrip().startswith(b"{"):
        return [loads(body)]
    reader = SseReader()
    events = (*reader.feed(body), *reader.end())
    return [loads(event.data) for event in events if event.data.startswith("{")]


def dialect_of(provider: str) -> Dialect:
    return DIALECTS[NAMES.get(provider, provider)]


def origin_of(provider: str) -> str:
    return f"openai-chat:{provider}"


def conversations(provider: str) -> Iterator[tuple[Exchange, ModelRequest, int]]:
    """Every recorded request as one of ours, with how many of its assistant messages are decoded replies."""
    groups: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in recorded(provider):
        if "chat/completions" in exchange.url:
            groups[exchange.name.rpartition("-")[0]].append(exchange)
    for exchanges in groups.values():
        conversation = Conversation(provider)
        for exchange in exchanges:
            before = conversation.replayed
            yield exchange, conversation.request(exchange.request), conversation.replayed - before
            if exchange.status == 200:
                conversation.said.append(decoded_reply(exchange, provider, f"t1s{len(conversation.said) + 1}"))


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


def explained(theirs: Json, ours: Json) -> list[str] | None:
    """The names of the ways in which a request of ours differs from the recorded one; None when they do not suffice."""
    used: list[str] = []
    for name, rewrite in WAYS.items():
        if theirs == ours:
            break
        before = copy.deepcopy(theirs)
        rewrite(theirs, ours)
        if theirs != before:
            used.append(name)
    return used if theirs == ours else None


@pytest.mark.parametrize("provider", EXPECTED)
def test_every_recorded_request_is_encoded_as_the_vendors_client_did_or_differs_in_a_named_way(provider: str) -> None:
    counts: Counter[str] = Counter()
    for exchange, request, replayed in conversations(provider):
        ways = explained(compared(exchange.request), compared(encoded(request, provider)))
        assert ways is not None, f"{exchange.name} differs in a way that has no name"
        counts["explained" if ways else "agree"] += 1
        counts["replayed"] += replayed
    assert (counts["agree"], counts["explained"], counts["replayed"]) == EXPECTED[provider]


def test_every_way_to_differ_is_told_in_the_documentation_with_its_count() -> None:
    counts: Counter[str] = Counter()
    for provider in EXPECTED:
        for exchange, request, _ in conversations(provider):
            counts.update(explained(compared(exchange.request), compared(encoded(request, provider))) or ())
    section = DOCUMENT.read_text().partition("## OpenAI Chat")[2].partition("\n## ")[0]
    for name in WAYS:
        assert f"| {name} | {counts[name]} |" in section


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
        assert explained(compared(recorded_request), compared(ours)) is None
