"""docs/client.md tells of every method of the client, in the words of the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from perdure.client.client import Client
from perdure.client.grants import Grants
from tests.servers import ROOT

TEXT = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")


def rows(of: type, prefix: str = "") -> Iterator[str]:
    """A row for each public method: how it is called, and the first sentence of what its docstring says."""
    for name, member in vars(of).items():
        if name.startswith("_"):
            continue
        described = inspect.getdoc(member if isinstance(member, property) else getattr(of, name)) or ""
        said = re.sub(r"``(.*?)``", r"`\1`", re.split(r"(?<=\.)(?:\s|$)", described, maxsplit=1)[0].replace("\n", " "))
        yield f"| `{prefix}{name}{'' if isinstance(member, property) else parameters(getattr(of, name))}` | {said} |"


def parameters(method: object) -> str:
    """The names of what is passed; ``*`` stands before those that are passed by name."""
    names: list[str] = []
    for parameter in inspect.signature(method).parameters.values():  # type: ignore[arg-type]  # a method is callable
        if parameter.name == "self":
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in names:
            names.append("*")
        names.append(parameter.name)
    return f"({', '.join(names)})"


def test_the_table_of_methods_is_what_the_code_says() -> None:
    written = re.findall(r"^\| `.*$", TEXT, re.MULTILINE)

    assert written == [*rows(Client), *rows(Grants, "grants.")]
