"""Replies of OpenAI's chat protocol, streamed or whole and in any server's dialect, as pieces of ours."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from perdure.contracts.errors import OverloadedError
from perdure.contracts.messages import FinishReason, Opaque
from perdure.contracts.usage import Cost, Usage
from perdure.providers.chat_calls import CallSorter
from perdure.providers.completion import NAMELESS
from perdure.providers.dialects import Dialect
from perdure.providers.http import Reply
from perdure.providers.lenient import Json, a_count, a_list, a_text, an_object
from perdure.providers.payloads import DONE, DRAIN, Payload
from perdure.providers.prices import nano_dollars
from perdure.providers.stream import (
    FinishPiece,
    OpaquePiece,
    Piece,
    ReasoningPiece,
    StartPiece,
    TextPiece,
    UsagePiece,
)
from perdure.providers.surrogates import SurrogateJoiner
from perdure.providers.thinking import ThinkTags

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "calls",
    "function_call": "calls",
    "content_filter": "refused",
    "sensitive": "refused",
}
"""What a server's word means; a word that is not here is taken for ``stop`` and kept as it is."""

LINGER = 5.0
"""Seconds that usage may come after the finish; a server that keeps the connection open holds nobody up."""


class ChatDecoder:
    """Decodes one reply."""

    def __init__(self, reply: Reply, dialect: Dialect, origin: str) -> None:
        self._reply = reply
        self._dialect = dialect
        self._origin = origin
        self._calls = CallSorter(origin)
        self._tags = ThinkTags() if dialect.inline_thinking else None
        self._text = SurrogateJoiner()
        self._reasoning = SurrogateJoiner()
        self._details: list[Json] = []
        self._started = False
        self._refused = False
        self._raw = ""
        self._done = False

    @property
    def finished(self) -> bool:
        """Whether the provider has said that the answer is whole."""
        return self._done or bool(self._raw)

    @property
    def patience(self) -> float | None:
        """How long the next piece of the reply may take."""
        return DRAIN if self._done else LINGER if self.finished else None

    def feed(self, payload: Payload) -> Iterator[Piece]:
        """The pieces in one value. Raises the ProviderError that the value stands for, if it is one."""
        if payload.value == DONE:
            self._done = True
            return
        chunk = an_object(payload.first)
        choices = [an_object(choice) for choice in a_list(chunk.get("choices"))]
        if payload.event == "error" or _is_error(chunk, choices):
            raise self._reply.fault(payload.first)
        if not self._started and (message_id := a_text(chunk.get("id"))):
            self._started = True
            yield StartPiece(message_id)
        for choice in choices:
            if not choice.get("index"):
                yield from self._choice(choice)
        consumed = [chunk.get("usage"), an_object(chunk.get("x_groq")).get("usage"), *(c.get("usage") for c in choices)]
        for usage in consumed:
            if usage and isinstance(usage, dict):
                yield UsagePiece(usage_of(usage, self._dialect), _cost_of(usage))
                break

    def end(self) -> Iterator[Piece]:
        """What the end of the reply settles: held text, opaque reasoning and the finish, if the provider gave one."""
        for kind, text in self._tags.end() if self._tags else ():
            yield from self._prose(kind, text)
        if rest := self._reasoning.end():
            yield ReasoningPiece(rest)
        if rest := self._text.end():
            yield TextPiece(rest)
        if self._details:
            data: Json = {"reasoning_details": [*self._details]}
            yield OpaquePiece(Opaque(origin=self._origin, data=data))
        if not self.finished:
            return
        if self._calls.nameless:
            raise self._reply.bad(NAMELESS)
        yield FinishPiece(self._reason(), self._raw)

    def _reason(self) -> FinishReason:
        reason = _FINISH.get(self._raw, "stop")
        if self._refused:
            return "refused"
        if reason in ("stop", "calls"):
            return "calls" if len(self._calls) else "stop"
        return reason

    def _choice(self, choice: Json) -> Iterator[Piece]:
        delta = an_object(choice.get("delta")) or an_object(choice.get("message"))
        yield from self._thought(delta)
        content = delta.get("content")
        if isinstance(content, list):
            for part in content:
                yield from self._part(an_object(part))
        elif text := a_text(content):
            yield from self._content(text)
        if refusal := a_text(delta.get("refusal")):
            self._refused = True
            yield from self._prose("text", refusal)
        yield from self._calls.pieces(delta.get("tool_calls"), whole="message" in choice)
        if function := delta.get("function_call"):
            yield from self._calls.pieces([{"index": 0, "function": function}])
        if raw := a_text(choice.get("finish_reason")):
            self._raw = raw
            if raw == "insufficient_system_resource":
                raise OverloadedError(
                    self._reply.provider,
                    "the provider ran out of resources",
                    code=raw,
                    request_id=self._reply.request_id,
                )

    def _thought(self, delta: Json) -> Iterator[Piece]:
        text = a_text(delta.get("reasoning_content")) or a_text(delta.get("reasoning"))
        details = [an_object(detail) for detail in a_list(delta.get("reasoning_details"))]
        if not text:
            text = "".join(a_text(detail.get("text")) or a_text(detail.get("summary")) for detail in details)
        if self._dialect.reasoning_replay == "reasoning_details":
            for detail in details:
                _gather(self._details, detail)
        yield from self._prose("reasoning", text)

    def _part(self, part: Json) -> Iterator[Piece]:
        if part.get("type") == "text":
            yield from self._content(a_text(part.get("text")))
        elif part.get("type") == "thinking":
            thinking = part.get("thinking")
            texts = [a_text(an_object(item).get("text")) for item in a_list(thinking)]
            yield from self._prose("reasoning", a_text(thinking) or "".join(texts))

    def _content(self, text: str) -> Iterator[Piece]:
        if self._tags is None:
            yield from self._prose("text", text)
        else:
            for kind, share in self._tags.feed(text):
                yield from self._prose(kind, share)

    def _prose(self, kind: str, text: str) -> Iterator[Piece]:
        joiner = self._text if kind == "text" else self._reasoning
        if joined := joiner.feed(text):
            yield TextPiece(joined) if kind == "text" else ReasoningPiece(joined)


def usage_of(usage: Json, dialect: Dialect) -> Usage:
    """A server's ``usage`` object in our terms: cached input within the input, reasoning within the output."""
    prompt, completion = a_count(usage.get("prompt_tokens")), a_count(usage.get("completion_tokens"))
    total = a_count(usage.get("total_tokens"))
    read = an_object(usage.get("prompt_tokens_details"))
    written = an_object(usage.get("completion_tokens_details"))
    reasoning = a_count(written.get("reasoning_tokens")) or a_count(usage.get("reasoning_tokens"))
    cached = (
        a_count(read.get("cached_tokens"))
        or a_count(usage.get("prompt_cache_hit_tokens"))
        or a_count(usage.get("num_cached_tokens"))
        or a_count(usage.get("cached_tokens"))
    )
    if dialect.hidden_output:
        completion = max(completion, total - prompt)
    return Usage(
        input_tokens=prompt,
        cached_tokens=min(cached, prompt),
        cache_write_tokens=a_count(read.get("cache_write_tokens")),
        output_tokens=completion,
        reasoning_tokens=min(reasoning, completion),
    )


def _cost_of(usage: Json) -> Cost | None:
    """The provider's own word on the cost (OpenRouter: dollars), which beats any price list."""
    cost = usage.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float) or usage.get("is_byok"):
        return None
    try:
        return Cost(nano_dollars=nano_dollars(Decimal(repr(cost))))
    except (InvalidOperation, ValueError, OverflowError):
        return None


def _is_error(chunk: Json, choices: list[Json]) -> bool:
    if chunk.get("error") or chunk.get("object") == "error":
        return True
    if any(choice.get("error") or choice.get("finish_reason") in ("error", "network_error") for choice in choices):
        return True
    return "choices" not in chunk and any(isinstance(chunk.get(key), str) for key in ("message", "detail"))


def _gather(details: list[Json], detail: Json) -> None:
    """Join a streamed piece of a reasoning detail to the one that it continues."""
    last = details[-1] if details else None
    if last is None or any(last.get(key) != detail.get(key) for key in ("type", "index")):
        details.append(dict(detail))
        return
    for key, value in detail.items():
        before = last.get(key)
        if key in ("text", "summary", "data") and isinstance(before, str) and isinstance(value, str):
            last[key] = before + value
        elif value is not None:
            last[key] = value
