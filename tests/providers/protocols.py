"""The four protocols behind one interface, for what must hold of each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.anthropic import AnthropicProvider
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.gemini import GeminiProvider
from perdure.providers.openai_chat import ChatProvider
from perdure.providers.openai_responses import ResponsesProvider
from tests.providers import anthropic_serving, gemini_serving, responses_serving, serving
from tests.providers.serving import Handler, asking, assembled

Adapter = ChatProvider | ResponsesProvider | AnthropicProvider | GeminiProvider


@dataclass(frozen=True)
class Spoken:
    """One protocol: a model that has most of what there is, and the bytes of a reply that says "Hi"."""

    model: str
    serving: Callable[..., Adapter]
    reply: bytes

    async def answer(
        self,
        handler: Handler,
        request: ModelRequest | None = None,
        *,
        settings: ProviderSettings | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> AssistantMessage:
        """What the adapter makes of what ``handler`` replies."""
        provider = self.serving(handler, settings=settings, environ=environ)
        request = request or asking()
        try:
            async with aclosing(provider.stream(request.model_copy(update={"model": self.model}))) as pieces:
                return assembled([piece async for piece in pieces], self.model)
        finally:
            await provider.close()


_ANTHROPIC_START = {
    "type": "message_start",
    "message": {"id": "msg_1", "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1}},
}
_GEMINI_USAGE = {"promptTokenCount": 10, "cachedContentTokenCount": 3, "candidatesTokenCount": 4}

PROTOCOLS = {
    "chat": Spoken(
        "openai:gpt-4o",
        serving.serving,
        serving.events(serving.chunk(content="Hi"), serving.chunk("stop"), serving.counted()),
    ),
    "responses": Spoken(
        "openai-responses:gpt-4o",
        responses_serving.serving,
        responses_serving.events(
            responses_serving.begun(), responses_serving.completed(responses_serving.message("Hi"))
        ),
    ),
    "anthropic": Spoken(
        "anthropic:claude-sonnet-4-5",
        anthropic_serving.serving,
        anthropic_serving.events(_ANTHROPIC_START, anthropic_serving.text(0, "Hi"), anthropic_serving.end()),
    ),
    "gemini": Spoken(
        "gemini:gemini-3-pro",
        gemini_serving.serving,
        gemini_serving.events(gemini_serving.chunk(gemini_serving.text("Hi"), finish="STOP", usage=_GEMINI_USAGE)),
    ),
}
