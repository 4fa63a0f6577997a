from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.anthropic_encoding import encode
from perdure.providers.dialects import DIALECTS
from perdure.providers.http import Reply
from perdure.providers.tool_names import tool_names
from tests.wire.anthropic_conversations import ORIGIN, Block, Conversation, decoded_reply
from tests.wire.comparing import Ways, by_recording, explained, provider_counts, told, values_of
from tests.wire.recordings import Exchange, needs_recordings, recorded

pytestmark = needs_recordings

REPLY = Reply("anthropic", httpx.Response(200))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def blocks(request: Block, *kinds: str) -> list[Block]:
    """The blocks of these kinds in a request's messages, in order."""
    return [block for message in request["messages"] for block in message["content"] if block["type"] in kinds]


def _shorthand(theirs: Block, ours: Block) -> None:
    for result in blocks(theirs, "tool_result"):
        result.setdefault("is_error", False)
        if isinstance(result.get("content"), str):
            result["content"] = [{"type": "text", "text": result["content"]}]
    for tool in theirs["tools"]:
        tool.setdefault("description", "")


def _hosted_tools(theirs: Block, ours: Block) -> None:
    theirs["tools"] = [tool for tool in theirs["tools"] if tool.get("type", "custom") == "custom"]


def _no_place(theirs: Block, ours: Block) -> None:
    for tool in theirs["tools"]:
        for key in ("strict", "defer_loading"):
            tool.pop(key, None)
    for result in blocks(theirs, "tool_result"):
        if any(part["type"] != "text" for part in result.get("content") or []):
            result["content"] = [{"type": "text", "text": json.dumps(result["content"])}]
    for message in theirs["messages"]:
        message["content"] = [
            block
            for block in message["content"]
            if block["type"] not in ("container_upload", "tool_addition")
            and (block.get("source") or {}).get("type") != "file"
        ]
    theirs["messages"] = [message for message in theirs["messages"] if message["content"]]


def _empty_text(theirs: Block, ours: Block) -> None:
    for message in theirs["messages"]:
        message["content"] = [block for block in message["content"] if block["type"] != "text" or block["text"].strip()]


def _rebuilt(theirs: Block, ours: Block) -> None:
    def said(message: Block) -> list[Any]:
        return [_without_nulls({**block, "caller": None, "citations": None}) for block in message["content"]]

    for mine, other in zip(ours["messages"], theirs["messages"], strict=False):
        if mine["role"] == other["role"] == "assistant" and said(mine) == said(other):
            other["content"] = mine["content"]


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _system_inside(theirs: Block, ours: Block) -> None:
    merged: list[Block] = []
    for message in theirs["messages"]:
        role = "user" if message["role"] == "system" else message["role"]
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += message["content"]
        else:
            merged.append({"role": role, "content": message["content"]})
    theirs["messages"] = merged


WAYS: Ways = {
    "hosted-tools": _hosted_tools,
    "shorthand": _shorthand,
    "no-place": _no_place,
    "system-inside": _system_inside,
    "empty-text": _empty_text,
    "rebuilt": _rebuilt,
}


def conversations() -> Iterator[tuple[Exchange, Conversation]]:
    """Every recorded request, with the replies recorded before it in the same file."""
    for exchanges in by_recording(exchange for exchange in recorded("anthropic") if "/messages" in exchange.url):
        answers: list[AssistantMessage] = []
        for exchange in exchanges:
            yield exchange, Conversation(exchange.request, REPLY, answers)
            if exchange.status == 200 and "count_tokens" not in exchange.url:
                model = f"anthropic:{exchange.request['model']}"
                answers.append(decoded_reply(REPLY, values_of(exchange.body), model, f"t1s{len(answers) + 1}"))


def encoded(request: ModelRequest) -> Block:
    names = tool_names(request)
    return encode(request, DIALECTS["anthropic"], provider="anthropic", origin=ORIGIN, names=names, now=NOW)


def compared(request: Block) -> Block:
    """What is compared: messages and tools, without cache marks, which every client sets where it likes."""
    found: Block = copy.deepcopy({"messages": request["messages"], "tools": request.get("tools", [])})
    for message in found["messages"]:
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    for block in (*(block for message in found["messages"] for block in message["content"]), *found["tools"]):
        block.pop("cache_control", None)
    return found


def test_every_recorded_request_is_encoded_as_the_vendors_client_did_or_differs_in_a_named_way() -> None:
    counts: Counter[str] = Counter()
    replayed = 0
    for exchange, conversation in conversations():
        ours = encoded(conversation.request())
        ways = explained(compared(exchange.request), compared(ours), WAYS)
        assert ways is not None, f"{exchange.name} differs in a way that has no name"
        assert exchange.request.get("container") == ours.get("container"), exchange.name
        counts["explained" if ways else "agree"] += 1
        counts.update(ways)
        replayed += conversation.replayed
    assert provider_counts("Anthropic")[3:] == (counts["agree"], counts["explained"], 0)
    assert replayed == 57
    assert told("Anthropic") == {name: counts[name] for name in WAYS}


def test_a_request_that_differs_in_any_other_way_is_found() -> None:
    theirs = {"messages": [{"role": "user", "content": "Hi"}], "tools": []}
    for ours in (
        {"messages": [{"role": "user", "content": "Ho"}]},
        {"messages": [{"role": "assistant", "content": "Hi"}]},
        {"messages": [*theirs["messages"], {"role": "assistant", "content": "x"}]},
        {"messages": theirs["messages"], "tools": [{"name": "read", "input_schema": {}}]},
    ):
        assert explained(compared(theirs), compared(ours), WAYS) is None
