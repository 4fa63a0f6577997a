"""The four protocols behind one interface, for what must hold of each of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import httpx

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.adapter import Adapter
from tests.providers import anthropic_serving as anthropic
from tests.providers import gemini_serving as gemini
from tests.providers import responses_serving as responses
from tests.providers import serving as chat
from tests.providers.serving import SSE, Handler, asking, assembled, pieces_of


@dataclass(frozen=True)
class Spoken:
    """One protocol: a model that has most of what there is, and the bytes of a reply that says "Hi", in two halves."""

    model: str
    said: bytes
    rest: bytes

    @property
    def reply(self) -> bytes:
        """The whole reply."""
        return self.said + self.rest

    def serving(self, handler: Handler, **more: Any) -> Adapter:
        """The adapter of a provider that answers by ``handler``; ``more`` as in `service`."""
        return chat.serving(handler, name=self.model.partition(":")[0], **more)

    def asking(self, *tools: str) -> ModelRequest:
        """A request for the model."""
        return asking(*tools, model=self.model)

    async def answer(self, handler: Handler, request: ModelRequest | None = None, **more: Any) -> AssistantMessage:
        """What the adapter makes of what ``handler`` replies; ``more`` as in `service`."""
        return assembled(await pieces_of(self.serving(handler, **more), request or self.asking()), self.model)

    async def sent(self, request: ModelRequest, **more: Any) -> dict[str, Any]:
        """The body in which the adapter sends ``request``; ``more`` as in `service`."""
        return dict(json.loads((await self.posted(request, **more)).content))

    async def posted(self, request: ModelRequest, **more: Any) -> httpx.Request:
        """The HTTP request in which the adapter sends ``request``."""
        seen: list[httpx.Request] = []

        def handle(posted: httpx.Request) -> httpx.Response:
            seen.append(posted)
            return httpx.Response(200, headers=SSE, content=self.reply)

        await self.answer(handle, request, **more)
        return seen[0]


_ANTHROPIC_START = {
    "type": "message_start",
    "message": {"id": "msg_1", "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1}},
}
_GEMINI_USAGE = {"promptTokenCount": 10, "cachedContentTokenCount": 3, "candidatesTokenCount": 4}

PROTOCOLS = {
    "chat": Spoken(
        "openai:gpt-4o",
        chat.events(chat.chunk(content="Hi"), done=False),
        chat.events(chat.chunk("stop"), chat.counted()),
    ),
    "responses": Spoken(
        "openai-responses:gpt-4o",
        responses.events(responses.begun(), responses.added(0, responses.message("")), responses.text("Hi")),
        responses.events(responses.completed(responses.message("Hi"))),
    ),
    "anthropic": Spoken(
        "anthropic:claude-sonnet-4-5",
        anthropic.events(_ANTHROPIC_START, anthropic.text(0, "Hi")),
        anthropic.events(anthropic.end()),
    ),
    "gemini": Spoken(
        "gemini:gemini-3-pro",
        gemini.events(gemini.chunk(gemini.text("Hi"))),
        gemini.events(gemini.chunk(finish="STOP", usage=_GEMINI_USAGE)),
    ),
}
