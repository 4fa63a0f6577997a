from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

from perdure.contracts.errors import BadReplyError
from perdure.contracts.messages import AssistantMessage
from perdure.providers.dialects import DIALECTS
from perdure.providers.gemini_encoding import encode
from perdure.providers.tool_names import tool_names
from tests.wire.comparing import provider_counts, told
from tests.wire.gemini_conversations import Conversation, Json
from tests.wire.gemini_ways import WAYS, differences
from tests.wire.recordings import Exchange, needs_recordings
from tests.wire.test_gemini import exchanges, message_of

pytestmark = needs_recordings


async def requests() -> AsyncIterator[tuple[Exchange, Json]]:
    """Each recorded exchange with the request that we would have sent in its place."""
    conversations: dict[str, Conversation] = {}
    for exchange in exchanges("gemini"):
        model = "gemini:" + exchange.url.split("/models/")[1].partition(":")[0]
        conversation = conversations.setdefault(exchange.name.rpartition("-")[0], Conversation(model))
        conversation.model = model
        request = conversation.request(exchange.request)
        names = tool_names(request, letter_first=True)
        yield exchange, encode(request, DIALECTS["gemini"], provider="gemini", origin="gemini:x", names=names)
        if exchange.status == 200:
            try:
                message = await message_of(exchange, exchange.body)
            except BadReplyError:
                continue
            conversation.said.append(named(message, f"r{len(conversation.said) + 1}", model))


def named(message: AssistantMessage, message_id: str, model: str) -> AssistantMessage:
    parts = tuple(
        part.model_copy(update={"call_id": f"{message_id}{part.call_id}"}) if part.kind == "call" else part
        for part in message.parts
    )
    return message.model_copy(update={"message_id": message_id, "model": model, "parts": parts})


async def test_our_requests_agree_with_the_recorded_ones_or_differ_in_ways_that_have_names() -> None:
    ways: Counter[str] = Counter()
    agreed, explained, failed = 0, 0, []
    async for exchange, ours in requests():
        found = differences(ours, exchange.request)
        ways.update(found or ())
        agreed += found == set()
        explained += bool(found)
        if found is None:
            failed.append(exchange.name)
    assert failed == []
    assert provider_counts("Gemini")[2:] == (agreed + explained, agreed, explained, 0)
    assert told("Gemini") == {name: ways[name] for name in WAYS}
