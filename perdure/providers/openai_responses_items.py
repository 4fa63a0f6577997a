"""Output items of OpenAI's Responses protocol kept beside our parts, so that they go back as they came.

What is kept is the item without the text that its part holds already. Fields that are null stay away from items that
go back: the protocol gives them and refuses them (a reasoning item's ``status`` and ``content``).
"""

from __future__ import annotations

from pydantic import JsonValue

from perdure.contracts.messages import CallPart, HostedPart, Opaque, ReasoningPart, TextPart
from perdure.providers.lenient import Json, a_list, a_text, an_object

_TEXT_FIELDS = {"output_text": "text", "text": "text", "refusal": "refusal"}
_THOUGHTS = ("summary", "content")
_QUOTED = 500


def said_in(content: Json) -> str:
    """The text of one piece of a message's content, or of a refusal; "" for kinds that hold none."""
    return a_text(content.get(_TEXT_FIELDS.get(a_text(content.get("type")), "")))


def thought_in(item: Json) -> str:
    """The text of a reasoning item: its summary, then what was thought in full, as paragraphs."""
    texts = (a_text(an_object(entry).get("text")) for field in _THOUGHTS for entry in a_list(item.get(field)))
    return "\n\n".join(text for text in texts if text)


def done_in(item: Json) -> str:
    """What a person may read of what the provider did by itself: the query, the code or the arguments, cut short."""
    action = an_object(item.get("action"))
    queries = [a_text(query) for query in a_list(item.get("queries")) or a_list(action.get("queries"))]
    said = (
        a_text(action.get("query"))
        or "; ".join(queries)
        or next((text for key in ("url", "command") if (text := a_text(action.get(key)))), "")
        or next(
            (text for key in ("code", "arguments", "input", "revised_prompt") if (text := a_text(item.get(key)))), ""
        )
    )
    return said if len(said) <= _QUOTED else said[: _QUOTED - 1] + "…"


def message_kept(origin: str, item: Json, content: Json, text: str) -> Opaque:
    """A message item and one piece of its content, for the part of that piece, which says ``text``."""
    held = said_in(content) == text
    kept = _without(content, _TEXT_FIELDS.get(a_text(content.get("type")), "")) if held else content
    return Opaque(origin=origin, data={"item": _without(item, "content"), "content": kept})


def reasoning_kept(origin: str, item: Json, text: str) -> Opaque:
    """A reasoning item, for its part, which says ``text``."""
    for field in _THOUGHTS:
        entries = a_list(item.get(field))
        for place, entry in enumerate(entries):
            if text and an_object(entry).get("text") == text:
                lean: list[JsonValue] = [*entries]
                lean[place] = _without(an_object(entry), "text")
                return Opaque(origin=origin, data={"item": {**item, field: lean}, "text_at": [field, place]})
    return Opaque(origin=origin, data={"item": item})


def call_kept(origin: str, item: Json) -> Opaque:
    """A function call's item, for its call part."""
    return Opaque(origin=origin, data={"item": _without(item, "name", "arguments", "call_id")})


def hosted_kept(origin: str, item: Json) -> Opaque:
    """Any other item."""
    return Opaque(origin=origin, data={"item": item})


def message_item(parts: list[tuple[TextPart, Opaque]]) -> Json:
    """The message item that text parts were made of, one piece of content each."""
    contents: list[JsonValue] = []
    for part, opaque in parts:
        content = an_object(opaque.data.get("content"))
        field = _TEXT_FIELDS.get(a_text(content.get("type")))
        contents.append({field: part.text, **content} if field else content)
    return {**_item(parts[-1][1]), "content": contents}


def reasoning_item(part: ReasoningPart, opaque: Opaque) -> Json:
    """The reasoning item that a part was made of; {} when nothing in it could go back.

    An id alone is nothing: the provider keeps no answers of ours to find it in.
    """
    item = _item(opaque)
    match opaque.data.get("text_at"):
        case [str(field), int(place)]:
            entries = [*a_list(item.get(field))]
            entries[place] = {**an_object(entries[place]), "text": part.text}
            item[field] = entries
        case _:
            pass
    return item if item.get("encrypted_content") or item.get("content") else {}


def call_item(part: CallPart, opaque: Opaque | None, *, call_id: str, name: str, arguments: str) -> Json:
    """The item of a call, with what came beside it when there was something."""
    rest = _item(opaque) if opaque else {}
    return {**rest, "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def hosted_item(part: HostedPart) -> Json:
    """The item that a hosted part was made of."""
    return an_object(part.opaque.data.get("item"))


def _item(opaque: Opaque) -> Json:
    return {key: value for key, value in an_object(opaque.data.get("item")).items() if value is not None}


def _without(item: Json, *keys: str) -> Json:
    return {key: value for key, value in item.items() if key not in keys}
