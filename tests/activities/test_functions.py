from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from perdure.activities.declaration import tool
from perdure.activities.functions import tool_from
from perdure.contracts.errors import ToolError, UnknownToolError
from perdure.contracts.names import RESERVED_ACTIVITIES
from perdure.contracts.tools import CallContext, ToolSpec
from tests.activities.calling import context

if TYPE_CHECKING:
    from decimal import Decimal


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Person(BaseModel):
    """Somebody."""

    name: str
    age: int = Field(default=0, description="Years.")


@dataclass
class Point:
    x: float
    y: float = 0.0


def greet(
    who: Person,
    colour: Colour,
    tone: Literal["warm", "cold"] = "warm",
    often: int = 1,
    note: str | None = None,
    tags: list[str] = [],  # noqa: B006 - authors write such defaults
    at: Point | None = None,
    on: date = date(2024, 5, 14),
) -> str:
    """Greet somebody.

    Args:
        who: The person to greet.
        colour: The colour of the card.
        often: How many times.
    """
    return f"{who.name} {colour.name} {tone} {often} {note} {tags} {at} {on}"


def test_a_typed_function_becomes_a_schema_with_types_descriptions_defaults_and_enums() -> None:
    spec = tool_from(greet).spec

    assert spec.name == "greet"
    assert spec.description == "Greet somebody."
    schema: Any = spec.parameters
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["required"] == ["who", "colour"]
    assert schema["additionalProperties"] is False
    fields = schema["properties"]
    assert fields["who"] == {"$ref": "#/$defs/Person", "description": "The person to greet."}
    assert schema["$defs"]["Colour"]["enum"] == ["red", "blue"]
    assert fields["tone"] == {"default": "warm", "enum": ["warm", "cold"], "type": "string"}
    assert fields["often"] == {"default": 1, "description": "How many times.", "type": "integer"}
    assert fields["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    assert fields["tags"] == {"default": [], "items": {"type": "string"}, "type": "array"}
    assert fields["on"]["default"] == "2024-05-14"
    assert schema["$defs"]["Person"]["properties"]["age"] == {"default": 0, "description": "Years.", "type": "integer"}
    assert schema["$defs"]["Point"]["required"] == ["x"]


def test_arguments_arrive_as_the_types_of_the_signature() -> None:
    tool = tool_from(greet)
    given: dict[str, Any] = {"who": {"name": "Ada"}, "colour": "blue", "at": {"x": 1}, "on": "2025-01-02"}

    assert tool.keywords(given, context()) == {
        "who": Person(name="Ada"),
        "colour": Colour.BLUE,
        "at": Point(1.0),
        "on": date(2025, 1, 2),
    }


def test_defaults_are_left_to_the_function() -> None:
    marker = object()

    def function(a: int = 1, b: Any = marker) -> bool:
        return b is marker

    tool = tool_from(function)

    assert tool.function(**tool.keywords({}, context()))
    assert tool.spec.parameters["properties"] == {"a": {"default": 1, "type": "integer"}, "b": {}}


def test_bad_arguments_are_named_one_by_one() -> None:
    tool = tool_from(greet)

    with pytest.raises(ToolError) as raised:
        tool.keywords({"colour": "green", "often": "many", "where": "here"}, context())

    said = str(raised.value)
    assert said.startswith("The arguments do not fit greet: ")
    for expected in ("who: field required", "colour: input should be 'red' or 'blue'", "often: ", "where: extra"):
        assert expected in said
    assert "\n" not in said


def test_what_an_argument_held_is_not_repeated_in_the_complaint() -> None:
    def function(token: int) -> None: ...

    with pytest.raises(ToolError) as raised:
        tool_from(function).keywords({"token": "hunter2"}, context())

    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("annotation", [CallContext, CallContext | None, Annotated[CallContext, "the call"]])
def test_a_context_parameter_is_filled_in_and_not_shown_to_the_model(annotation: Any) -> None:
    def function(a: int, about: Any) -> None: ...

    function.__annotations__["about"] = annotation
    tool, call = tool_from(function), context()

    assert tool.spec.parameters["properties"] == {"a": {"type": "integer"}}
    assert tool.keywords({"a": 1}, call) == {"a": 1, "about": call}


def test_a_parameter_without_an_annotation_takes_any_json() -> None:
    def function(anything) -> None: ...  # type: ignore[no-untyped-def]  # what this is about

    tool = tool_from(function)

    assert tool.spec.parameters["properties"] == {"anything": {}}
    assert tool.keywords({"anything": [1, {"a": None}]}, context()) == {"anything": [1, {"a": None}]}


def test_a_parameter_may_have_any_name() -> None:
    def function(schema: int, model_config: int, json: int, _private: int, copy: int, self: int) -> None: ...

    tool = tool_from(function)
    given: dict[str, Any] = dict.fromkeys(("schema", "model_config", "json", "_private", "copy", "self"), 1)

    assert list(tool.spec.parameters["properties"]) == list(given)  # type: ignore[arg-type]  # a schema is JSON
    assert tool.keywords(given, context()) == given


def test_a_function_without_parameters_has_an_empty_object_schema() -> None:
    def now() -> str:
        return "now"

    assert tool_from(now).spec.parameters == {"additionalProperties": False, "properties": {}, "type": "object"}


def test_what_stands_at_the_type_describes_a_parameter_too() -> None:
    def function(
        a: Annotated[int, "seconds"],
        b: Annotated[int, Field(description="metres", ge=0)],
        c: Annotated[int, Field(ge=1)],
    ) -> None:
        """Do it.

        Args:
            a: from the docstring
            b: from the docstring
            c: litres
        """

    assert tool_from(function).spec.parameters["properties"] == {
        "a": {"description": "seconds", "type": "integer"},
        "b": {"description": "metres", "minimum": 0, "type": "integer"},
        "c": {"description": "litres", "minimum": 1, "type": "integer"},
    }


def test_a_declaration_reaches_the_spec() -> None:
    @tool(name="remove_file", effect="write", idempotent=True, deadline=timedelta(seconds=5), path_arguments=("path",))
    def function(path: str) -> None: ...

    spec = tool_from(function).spec

    assert (spec.name, spec.effect, spec.idempotent) == ("remove_file", "write", True)
    assert (spec.deadline, spec.path_arguments) == (timedelta(seconds=5), ("path",))


def test_an_undecorated_function_declares_no_effect_and_no_idempotency() -> None:
    spec = tool_from(greet).spec

    assert (spec.effect, spec.idempotent) == (None, False)


def test_a_bound_method_is_a_tool_without_its_self() -> None:
    class Shop:
        def buy(self, item: str) -> str:
            return item

    assert list(tool_from(Shop().buy).spec.parameters["properties"]) == ["item"]  # type: ignore[arg-type]  # JSON values have no narrower type


def variadic(*items: str) -> None: ...
def variadic_names(**items: str) -> None: ...
def positional(item: str, /) -> None: ...
def generator() -> Iterator[int]:
    yield 1


def unresolved(amount: Decimal) -> None: ...
def formless(callback: Callable[[], int]) -> None: ...
def formless_class(value: ToolSpecLike) -> None: ...


class ToolSpecLike:
    pass


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (variadic, "takes *items"),
        (variadic_names, "takes **items"),
        (positional, "remove the `/`"),
        (generator, "is a generator"),
        (unresolved, "name 'Decimal' is not defined"),
        (formless, "no JSON form"),
        (formless_class, "no JSON form"),
    ],
)
def test_a_signature_that_cannot_serve_is_refused_with_its_place_and_a_way_out(
    function: Callable[..., Any], said: str
) -> None:
    with pytest.raises(UnknownToolError) as raised:
        tool_from(function)

    text = str(raised.value)
    assert said in text
    assert f"'{function.__name__}'" in text
    assert f"{__file__}:" in text
    assert "\n" not in text


@pytest.mark.parametrize("name", ["größe", "two words", "a" * 65, "a.b", "", "a\n"])
def test_a_name_that_no_provider_takes_is_refused(name: str) -> None:
    @tool(name=name)
    def größe() -> None: ...

    with pytest.raises(UnknownToolError, match=r"cannot be used.*@perdure\.tool"):
        tool_from(größe)


@pytest.mark.parametrize("name", [*sorted(RESERVED_ACTIVITIES), "__temporal_x"])
def test_a_reserved_name_is_refused(name: str) -> None:
    @tool(name=name)
    def function() -> None: ...

    with pytest.raises(UnknownToolError, match=f"'{name}'.*reserved"):
        tool_from(function)


def test_a_declared_path_or_command_must_be_a_parameter() -> None:
    @tool(path_arguments=("pth",))
    def function(path: str) -> None: ...

    with pytest.raises(UnknownToolError, match="declares 'pth' as a path or a command, but has no such parameter"):
        tool_from(function)


def test_an_effect_that_does_not_exist_is_refused() -> None:
    misspelt: Any = "reads"

    @tool(effect=misspelt)
    def function() -> None: ...

    with pytest.raises(UnknownToolError, match="declares effect wrongly: input should be 'read', 'write'"):
        tool_from(function)


def test_a_spec_survives_json() -> None:
    spec = tool_from(greet).spec

    assert ToolSpec.model_validate_json(spec.model_dump_json()) == spec
