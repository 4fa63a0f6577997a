"""Replies of Gemini's generateContent, streamed or whole, as pieces of ours.

Trap: a signature covers the one part that it came with. Text that came without one is never joined to text that came
with one, and an empty text that carries a signature, which is how most streams end, stays a part.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import JsonValue

from perdure.contracts.errors import BadReplyError, BadRequestError, ProviderError
from perdure.contracts.messages import FinishReason, ImagePart, Opaque
from perdure.contracts.usage import Usage
from perdure.providers.completion import NAMELESS
from perdure.providers.http import Reply
from perdure.providers.lenient import Json, a_count, a_list, a_text, an_object, some_bytes
from perdure.providers.payloads import Payload
from perdure.providers.stream import (
    CallPiece,
    FinishPiece,
    HostedPiece,
    ImagePiece,
    Piece,
    ReasoningPiece,
    StartPiece,
    TextPiece,
    UsagePiece,
)
from perdure.providers.surrogates import SurrogateJoiner

_REFUSED = frozenset({"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"})

_FAULTS: dict[str, tuple[type[ProviderError], str]] = {
    "MALFORMED_FUNCTION_CALL": (BadReplyError, "the model made a tool call that cannot be read"),
    "MALFORMED_RESPONSE": (BadReplyError, "the model made an answer that cannot be read"),
    "UNEXPECTED_TOOL_CALL": (BadReplyError, "the model called a tool that it was not offered"),
    "TOO_MANY_TOOL_CALLS": (BadReplyError, "the model called too many tools in a row"),
    "NO_IMAGE": (BadReplyError, "the model was to make an image and made none"),
    "OTHER": (BadReplyError, "the model stopped and the provider does not say why"),
    "MISSING_THOUGHT_SIGNATURE": (BadRequestError, "an earlier call was sent back without its thought signature"),
}
"""Finish reasons that stand for an error: what came before them is no answer."""

_BESIDE = frozenset({"thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"})
"""Fields of a part that say something about its content, which is the one other field."""

_REPORTS = ("groundingMetadata", "urlContextMetadata", "citationMetadata")
"""What a reply tells of sources and searches beside its parts. It does not go back to the model."""

LINGER = 2.0
"""Seconds that usage or sources may come after the finish; a server that keeps the connection open holds nobody up."""


class GeminiDecoder:
    """Decodes one reply."""

    def __init__(self, reply: Reply, origin: str) -> None:
        self._reply = reply
        self._origin = origin
        self._text = SurrogateJoiner()
        self._reasoning = SurrogateJoiner()
        self._reports: dict[str, Json] = {}
        self._calls = 0
        self._said = False
        self._started = False
        self._raw = ""
        self._blocked = ""

    @property
    def finished(self) -> bool:
        """Whether the provider has said that the answer is whole."""
        return bool(self._raw or self._blocked)

    @property
    def patience(self) -> float | None:
        """How long the next piece of the reply may take."""
        return LINGER if self.finished else None

    def feed(self, payload: Payload) -> Iterator[Piece]:
        """The pieces in one value, or in a list of them. Raises the ProviderError that a value stands for."""
        for value in payload.value if isinstance(payload.value, list) else [payload.value]:
            chunk = an_object(value)
            if payload.event == "error" or _is_error(chunk):
                raise self._reply.fault(value)
            yield from self._chunk(chunk)

    def end(self) -> Iterator[Piece]:
        """What the end of the reply settles: held text, the reports and the finish, if the provider gave one."""
        if rest := self._reasoning.end():
            yield ReasoningPiece(rest)
        if rest := self._text.end():
            yield TextPiece(rest)
        # Sources alone are no answer: without anything that they belong to they must not make one look whole.
        for name, report in self._reports.items() if self._said or self._reason() != "stop" else ():
            yield HostedPiece(name, Opaque(origin=self._origin, data={name: report}), text=_told(report))
        if self._blocked:
            yield FinishPiece("refused", self._blocked)
        elif self._raw:
            yield FinishPiece(self._reason(), self._raw)

    def _chunk(self, chunk: Json) -> Iterator[Piece]:
        if not self._started and (message_id := a_text(chunk.get("responseId"))):
            self._started = True
            yield StartPiece(message_id)
        finish: Json = {}
        for candidate in map(an_object, a_list(chunk.get("candidates"))):
            if candidate.get("index"):
                continue
            for part in a_list(an_object(candidate.get("content")).get("parts")):
                yield from self._part(an_object(part))
            for name in _REPORTS:
                if report := an_object(candidate.get(name)):
                    self._reports[name] = {**self._reports.get(name, {}), **report}
            if _said(candidate.get("finishReason")):
                finish = candidate
        if usage := an_object(chunk.get("usageMetadata")):
            yield UsagePiece(usage_of(usage))
        self._blocked = _said(an_object(chunk.get("promptFeedback")).get("blockReason")) or self._blocked
        # After the usage: what an answer of no use has consumed counts as well.
        if finish:
            self._finish(finish)

    def _finish(self, candidate: Json) -> None:
        self._raw = raw = a_text(candidate.get("finishReason"))
        known = _FAULTS.get(raw)
        said = a_text(candidate.get("finishMessage"))
        if known:
            kind, sentence = known
            raise kind(
                self._reply.provider,
                f"{sentence}: {said}" if said else sentence,
                code=raw,
                request_id=self._reply.request_id,
            )

    def _reason(self) -> FinishReason:
        if self._raw in ("MAX_TOKENS", "CONTINUATION"):
            return "length"
        if self._raw in _REFUSED or self._raw.startswith("IMAGE_"):
            return "refused"
        return "calls" if self._calls else "stop"

    def _part(self, part: Json) -> Iterator[Piece]:
        content = next((name for name in part if name not in _BESIDE), None)
        if "functionCall" in part:
            yield self._call(part)
        elif "text" in part or (part and content is None):
            yield from self._prose(part)
        elif (image := image_of(an_object(part.get("inlineData")))) and part.get("thought") is not True:
            self._said = True
            data = {name: value for name, value in part.items() if name != "inlineData"}
            kept = Opaque(origin=self._origin, data=data) if data else None
            yield ImagePiece(image.model_copy(update={"opaque": kept}))
        elif content is not None:
            self._said = True
            yield _hosted(content, part, self._origin)

    def _prose(self, part: Json) -> Iterator[Piece]:
        data = {name: value for name, value in part.items() if name not in ("text", "thought")}
        opaque = Opaque(origin=self._origin, data=data) if data else None
        joiner = self._reasoning if part.get("thought") is True else self._text
        text = joiner.feed(a_text(part.get("text"))) + (joiner.end() if opaque else "")
        self._said = self._said or bool(text.strip())
        if text or opaque:
            kind = ReasoningPiece if part.get("thought") is True else TextPiece
            yield kind(text, opaque, apart=opaque is not None)

    def _call(self, part: Json) -> CallPiece:
        call = an_object(part["functionCall"])
        name = a_text(call.get("name"))
        if not name:
            raise self._reply.bad(NAMELESS)
        data = {key: value for key, value in part.items() if key != "functionCall"}
        arguments = call.get("args")
        if not isinstance(arguments, str):
            arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
        self._said = True
        self._calls += 1
        return CallPiece(
            self._calls - 1,
            id=a_text(call.get("id")),
            name=name,
            arguments=_mended(arguments),
            opaque=Opaque(origin=self._origin, data=data) if data else None,
        )


def usage_of(usage: Json) -> Usage:
    """A ``usageMetadata`` object in our terms: what tools read is input, what the model thought is output."""
    prompt = a_count(usage.get("promptTokenCount")) + a_count(usage.get("toolUsePromptTokenCount"))
    thoughts = a_count(usage.get("thoughtsTokenCount"))
    return Usage(
        input_tokens=prompt,
        cached_tokens=min(a_count(usage.get("cachedContentTokenCount")), prompt),
        output_tokens=a_count(usage.get("candidatesTokenCount")) + thoughts,
        reasoning_tokens=thoughts,
    )


def _said(word: JsonValue) -> str:
    """A word of an enumeration; the one that each enumeration has for "none" is none."""
    return "" if a_text(word).endswith("_UNSPECIFIED") else a_text(word)


def _is_error(chunk: Json) -> bool:
    return bool(chunk.get("error")) or (
        "candidates" not in chunk and any(isinstance(chunk.get(key), str) for key in ("message", "detail"))
    )


def image_of(data: Json) -> ImagePart | None:
    """The image in a part's ``inlineData``; None when it is none."""
    kind, decoded = a_text(data.get("mimeType")), some_bytes(data.get("data"))
    return ImagePart(media_type=kind, data=decoded) if decoded and kind.startswith("image/") else None


def _hosted(content: str, part: Json, origin: str) -> HostedPiece:
    """A part that is neither text nor a call to a tool of ours, whole, with what a person may read of it."""
    block = an_object(part[content])
    arguments = an_object(block.get("args"))
    queries = [a_text(query) for query in a_list(arguments.get("queries"))]
    return HostedPiece(
        content,
        Opaque(origin=origin, data={"part": part}),
        name=a_text(block.get("toolType")) or a_text(block.get("mimeType")),
        text=a_text(block.get("code"))
        or a_text(block.get("output"))
        or a_text(block.get("fileUri"))
        or ("\n".join(filter(None, queries)) or (json.dumps(arguments, ensure_ascii=False) if arguments else "")),
    )


def _told(report: Json) -> str:
    """The searches and sources that a report names, one a line."""
    lines = [a_text(query) for query in a_list(report.get("webSearchQueries"))]
    for chunk in map(an_object, a_list(report.get("groundingChunks"))):
        source = an_object(chunk.get("web")) or an_object(chunk.get("retrievedContext"))
        lines.append(f"{a_text(source.get('title'))} {a_text(source.get('uri'))}".strip())
    for source in map(an_object, [*a_list(report.get("urlMetadata")), *a_list(report.get("citationSources"))]):
        lines.append(a_text(source.get("retrievedUrl")) or a_text(source.get("uri")))
    return "\n".join(dict.fromkeys(line for line in lines if line))


def _mended(text: str) -> str:
    joiner = SurrogateJoiner()
    return joiner.feed(text) + joiner.end()
