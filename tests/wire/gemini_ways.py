"""The named ways in which a request of ours to Gemini may differ from the one that its SDK sent.

Both are compared as Google reads them: either spelling of a field, either alphabet of base64, any order of keys. Where
the recorder struck out what it took for a key, what is left is compared.
"""

from __future__ import annotations

import base64
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from perdure.providers.gemini_encoding import UNSIGNED
from tests.wire.gemini_conversations import Json, camel_case, declarations, lower_types


def talk(body: Json) -> Json:
    """What is compared of a request, as Google reads it: the prompt, the messages and the tools."""
    body = camel_case(copy.deepcopy(body))
    read = {
        "system": body.get("systemInstruction", {}).get("parts", []),
        "contents": body["contents"],
        "tools": body.get("tools", []),
    }
    for part in _parts(read):
        for holder, key in ((part, "thoughtSignature"), *((blob, "data") for blob in _blobs(part))):
            if key in holder:
                holder[key] = holder[key].replace("-", "+").replace("_", "/")
    return read


def differences(ours: Json, theirs: Json) -> set[str] | None:
    """The names of the ways in which the requests differ; None when something else differs as well."""

    def equal(ways: set[str]) -> bool:
        sides = talk(ours), talk(theirs)
        for name, way in WAYS.items():
            if name in ways:
                way(*sides)
        return _struck(*sides)

    if equal(set()):
        return set()
    if not equal(set(WAYS)):
        return None
    return {name for name in WAYS if not equal(set(WAYS) - {name})}


def _parts(body: Json) -> Iterator[Json]:
    for content in body["contents"]:
        yield from content["parts"]


def _blobs(part: Json) -> Iterator[Json]:
    for holder in (part, *part.get("functionResponse", {}).get("parts", ())):
        if "inlineData" in holder:
            yield holder["inlineData"]


def _struck(ours: Any, theirs: Any) -> bool:
    """Whether both are equal but for what the recorder struck out."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_struck(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_struck, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str) and "REDACTED" in ours + theirs:
        kept = ".+".join(map(re.escape, theirs.split("REDACTED")))
        return ours == theirs or re.fullmatch(kept, ours, re.DOTALL) is not None
    return bool(ours == theirs)


def _ids(*sides: Json) -> None:
    for body in sides:
        numbers: dict[str, int] = {}
        waiting: list[str] = []
        for part in _parts(body):
            if call := part.get("functionCall"):
                key = call.get("id") or f"unnamed {len(numbers)}"
                call["id"] = numbers.setdefault(key, len(numbers))
                waiting.append(key)
            elif answered := part.get("functionResponse"):
                key = answered.get("id") or waiting[0]
                waiting = [other for other in waiting if other != key]
                answered["id"] = numbers.get(key)


def _result_key(_: Json, theirs: Json) -> None:
    for part in _parts(theirs):
        answered = part.get("functionResponse", {}).get("response", {})
        if list(answered) == ["return_value"] and isinstance(answered["return_value"], str):
            answered["output"] = answered.pop("return_value")


def _foreign_reasoning(_: Json, theirs: Json) -> None:
    for content in theirs["contents"]:
        content["parts"] = [part for part in content["parts"] if not part.get("thought")]


def _no_place(_: Json, theirs: Json) -> None:
    for part in _parts(theirs):
        part.pop("videoMetadata", None)
        part.get("functionResponse", {}).pop("parts", None)


def _hosted_tools(_: Json, theirs: Json) -> None:
    theirs["tools"] = [tool for tool in theirs["tools"] if "functionDeclarations" in tool]


def _schema_field(_: Json, theirs: Json) -> None:
    for declared in declarations(theirs):
        if "parameters" in declared:
            declared["parametersJsonSchema"] = lower_types(declared.pop("parameters"))


def _empty_turn(_: Json, theirs: Json) -> None:
    contents = [content for content in theirs["contents"] if content["parts"] != [{"text": ""}]]
    if len(contents) < len(theirs["contents"]):
        theirs["contents"] = [{"role": "user", "parts": [part for content in contents for part in content["parts"]]}]


def _text_file(_: Json, theirs: Json) -> None:
    for part in _parts(theirs):
        if part.get("inlineData", {}).get("mimeType", "").startswith("text/"):
            text = base64.b64decode(part.pop("inlineData")["data"]).decode()
            part["text"] = f"File without a name:\n\n{text}"


def _placeholder(_: Json, theirs: Json) -> None:
    other = base64.b64encode(b"context_engineering_is_the_way_to_go").decode()
    for part in _parts(theirs):
        if part.get("thoughtSignature") == other:
            part["thoughtSignature"] = UNSIGNED


def _rebuilt(ours: Json, theirs: Json) -> None:
    for mine, other in zip(ours["contents"], theirs["contents"], strict=False):
        hosted = any("toolCall" in part for part in mine["parts"])
        if hosted and _gist(mine["parts"]) == _gist(other["parts"]):
            mine["parts"] = other["parts"]


def _gist(parts: list[Json]) -> list[Any]:
    text = "".join(part.get("text", "") for part in parts)
    signatures = [part["thoughtSignature"] for part in parts if "thoughtSignature" in part]
    blocks = [(name, part[name]["id"], part[name]["toolType"]) for part in parts for name in part if "tool" in name]
    return [text, signatures, blocks]


WAYS: dict[str, Callable[[Json, Json], None]] = {
    "ids": _ids,
    "result-key": _result_key,
    "foreign-reasoning": _foreign_reasoning,
    "no-place": _no_place,
    "hosted-tools": _hosted_tools,
    "schema-field": _schema_field,
    "empty-turn": _empty_turn,
    "text-file": _text_file,
    "placeholder": _placeholder,
    "rebuilt": _rebuilt,
}
"""What each one means stands in docs/providers-wire.md."""
