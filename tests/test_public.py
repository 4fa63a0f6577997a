"""The public face of the package: what applications import."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

import perdure
from perdure.contracts import errors

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FACE = [getattr(perdure, name) for name in perdure.__all__]
NOT_PUBLIC = {"Projection"}
"""What `Client.history` gives: it holds the brain's own state, which may change with every release."""

IMPORT = re.compile(r"^from (perdure[\w.]*) import (.+)$", re.MULTILINE)


def functions(value: object) -> Iterator[typing.Any]:
    """What people call of a public name: the function itself, or a class's public methods and properties."""
    if inspect.isfunction(value):
        yield value
    for name, member in vars(value).items() if inspect.isclass(value) else ():
        found = getattr(member, "fget", None) or inspect.unwrap(getattr(member, "__func__", member))
        if not name.startswith("_") and inspect.isfunction(found) and found.__module__.startswith("perdure"):
            yield found


def classes(annotation: object) -> Iterator[type]:
    """The classes of ours that an annotation names, and those that a user meets in their fields."""
    for argument in typing.get_args(annotation):
        yield from classes(argument)
    if inspect.isclass(annotation) and annotation.__module__.startswith("perdure"):
        yield annotation
        for field in annotation.model_fields.values() if issubclass(annotation, BaseModel) else ():
            yield from classes(field.annotation)


def test_every_public_name_can_be_imported() -> None:
    for name in perdure.__all__:
        assert getattr(perdure, name) is not None


def test_whatever_a_public_name_takes_or_gives_is_public_too() -> None:
    annotations = [
        annotation
        for value in FACE
        for function in functions(value)
        for annotation in typing.get_type_hints(function).values()
    ]
    met = {found for annotation in (*FACE, *annotations) for found in classes(annotation)}

    assert len(met) > 50, "the walk finds nothing"
    assert {found.__name__ for found in met} - set(perdure.__all__) == NOT_PUBLIC


def test_every_error_that_a_public_name_says_it_raises_is_public_too() -> None:
    told = " ".join(inspect.getdoc(function) or "" for value in FACE for function in functions(value))
    said = set(re.findall(r"\b[A-Z]\w+Error\b", told)) & set(vars(errors))

    assert said
    assert said - set(perdure.__all__) == set()


def test_the_documents_import_public_names_and_what_tests_use() -> None:
    imports = [(page.name, *found) for page in PAGES for found in IMPORT.findall(page.read_text(encoding="utf-8"))]

    assert imports
    for page, module, names in imports:
        assert module == "perdure" or module.startswith("perdure.testing."), f"{page} imports from {module}"
        assert module != "perdure" or set(names.split(", ")) <= set(perdure.__all__), f"{page} imports {names}"


def test_the_public_names_are_listed_before_they_are_loaded() -> None:
    assert set(perdure.__all__) <= set(dir(perdure))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        perdure.nonsense  # noqa: B018 - the access is what is tested


def test_importing_the_package_or_what_needs_no_server_does_not_import_temporal() -> None:
    code = "import sys, perdure; perdure.tool, perdure.AgentSpec; sys.exit('temporalio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
