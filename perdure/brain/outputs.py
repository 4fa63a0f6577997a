"""Typed output: the object in an answer, and what is wrong with it when it does not fit what was asked for."""

from __future__ import annotations

import re

from pydantic import JsonValue

from perdure.contracts.decode import decode
from perdure.contracts.schemas import Schema, misfit

_FENCED = re.compile(r"^```[a-zA-Z]*\s*\n(.*)\n```$", re.DOTALL)


def read_output(text: str, schema: Schema) -> tuple[JsonValue, str]:
    """The object in an answer, and the problem with it: exactly one of the two is telling.

    A fence around the JSON is taken off: many models cannot be kept from drawing one.
    """
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    try:
        value = decode(fenced.group(1) if fenced else stripped)
    except ValueError as error:
        return None, f"It is no JSON: {error}."
    problem = misfit(value, schema)
    return (None, problem) if problem else (value, "")
