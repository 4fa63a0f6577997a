"""What a docstring says of a function and of its parameters, in Google, NumPy or Sphinx style."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import griffe

# griffe logs what it misses in a docstring (types above all, which stand in the signature here).
QUIET: griffe.PerStyleOptions = {
    "google": {"warnings": False},
    "numpy": {"warnings": False},
    "sphinx": {"warnings": False},
}


@dataclass(frozen=True, slots=True)
class Described:
    """The prose of a docstring, and what it says of each parameter."""

    text: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


def read_docstring(function: Callable[..., Any]) -> Described:
    """The docstring of ``function``, taken apart. Sections other than prose and parameters are left out."""
    if not function.__doc__:
        return Described()
    texts: list[str] = []
    parameters: dict[str, str] = {}
    for section in griffe.parse_auto(griffe.Docstring(function.__doc__), per_style_options=QUIET):
        match section:
            case griffe.DocstringSectionText():
                texts.append(section.value.strip())
            case griffe.DocstringSectionParameters() | griffe.DocstringSectionOtherParameters():
                parameters.update({each.name.lstrip("*"): " ".join(each.description.split()) for each in section.value})
    return Described("\n\n".join(text for text in texts if text), parameters)
