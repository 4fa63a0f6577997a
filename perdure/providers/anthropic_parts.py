"""Parts of our messages as content blocks of Anthropic's protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from perdure.contracts.attachments import is_text
from perdure.contracts.errors import BadRequestError
from perdure.contracts.messages import (
    AssistantMessage,
    AssistantPart,
    AudioPart,
    CallPart,
    FilePart,
    HostedPart,
    ImagePart,
    Opaque,
    ReasoningPart,
    TextPart,
    UserPart,
)
from perdure.contracts.prompts import ModelRequest
from perdure.providers.encoding import arguments_sent, in_base64
from perdure.providers.lenient import Json, a_text, an_object
from perdure.providers.tool_names import ToolNames

_IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


def user_block(part: UserPart, provider: str) -> Json | None:
    """The block of a user's part; None for text that says nothing. Raises BadRequestError for what has no block."""
    match part:
        case TextPart():
            return {"type": "text", "text": part.text} if part.text.strip() else None
        case ImagePart():
            if part.data is not None and part.media_type not in _IMAGE_TYPES:
                raise BadRequestError(provider, f"images must be JPEG, PNG, GIF or WebP here, not {part.media_type}")
            return {"type": "image", "source": _source(part)}
        case AudioPart():
            raise BadRequestError(provider, f"this protocol takes no audio, and the message holds {part.media_type}")
        case FilePart():
            return {
                "type": "document",
                "source": _document(part, provider),
                **({"title": part.name} if part.name else {}),
            }


def _document(part: FilePart, provider: str) -> Json:
    if part.media_type == "application/pdf":
        return _source(part)
    if part.data is not None and is_text(part.media_type):
        return {"type": "text", "media_type": "text/plain", "data": part.data.decode("utf-8", "replace")}
    how = "by address" if part.data is None else "data"
    raise BadRequestError(provider, f"files must be PDF, or data of text, in this protocol: {part.media_type} {how}")


def _source(part: ImagePart | FilePart) -> Json:
    if part.data is None:
        return {"type": "url", "url": part.url or ""}
    return {"type": "base64", "media_type": part.media_type, "data": in_base64(part.data)}


class AssistantBlocks:
    """The blocks of the model's own messages: what its provider made goes back to it as it came."""

    def __init__(self, request: ModelRequest, origin: str, names: ToolNames, call_ids: Mapping[str, str]) -> None:
        self._request = request
        self._origin = origin
        self._names = names
        self._call_ids = call_ids
        self._answered = {
            a_text(data.get("tool_use_id")) for data in self._own_data() if data.get("tool_use_id") is not None
        }

    def call_id(self, ours: str) -> str:
        """The id under which a call is sent."""
        return self._call_ids.get(ours, ours)

    def container(self, now: datetime) -> str:
        """The id of the container in which the provider ran code last; "" when there is none that is alive."""
        last: Json = {}
        for data in self._own_data():
            last = an_object(data.get("container")) or last
        try:
            alive = datetime.fromisoformat(a_text(last.get("expires_at"))) > now
        except (ValueError, TypeError):
            alive = True
        return a_text(last.get("id")) if alive else ""

    def of(self, message: AssistantMessage) -> Iterator[Json]:
        """The blocks of ``message``."""
        cut = message.finish not in ("stop", "calls")
        for part in message.parts:
            match part:
                case TextPart():
                    if part.text.strip():
                        yield {"type": "text", "text": part.text, **self._own(part.opaque)}
                case ReasoningPart():
                    if message.model == self._request.model and (data := self._own(part.opaque)):
                        yield from _thought(part.text, data, cut=cut)
                case CallPart():
                    yield {
                        "type": "tool_use",
                        "id": self.call_id(part.call_id),
                        "name": self._names.sent(part.tool),
                        "input": arguments_sent(part),
                        **self._own(part.opaque),
                    }
                case HostedPart():
                    if (data := self._own(part.opaque)) and not (cut and self._unanswered(data)):
                        yield data
                case ImagePart() | AudioPart() | FilePart():
                    yield {"type": "text", "text": f"[{part.kind}]"}

    def _own(self, opaque: Opaque | None) -> Json:
        if opaque is None or opaque.origin != self._origin:
            return {}
        return {key: value for key, value in opaque.data.items() if key != "container"}

    def _unanswered(self, block: Json) -> bool:
        """Whether the provider began something here whose result never came: it refuses such a block."""
        return "input" in block and a_text(block.get("id")) not in self._answered

    def _own_data(self) -> Iterator[Json]:
        for message in self._request.messages:
            for part in message.parts if isinstance(message, AssistantMessage) else ():
                if (opaque := _opaque(part)) and opaque.origin == self._origin:
                    yield opaque.data


def _thought(text: str, data: Json, *, cut: bool) -> Iterator[Json]:
    if data.get("type") != "thinking":
        yield data
    elif data.get("signature") or not cut:
        # Some servers sign with nothing; but where the answer was cut, the signature never came.
        yield {**data, "thinking": text}


def _opaque(part: AssistantPart) -> Opaque | None:
    match part:
        case TextPart() | ReasoningPart() | CallPart() | HostedPart():
            return part.opaque
        case ImagePart() | AudioPart() | FilePart():
            return None
