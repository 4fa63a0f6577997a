"""A plain typed function as a tool: its schema from the signature and the docstring, its arguments checked.

The trap: a parameter may have any name, and a pydantic field may not (``schema``, ``json``, ``model_config``). So the
fields are named by position and carry the parameter's name as their alias.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from perdure.activities.declaration import Declaration, declared_of
from perdure.activities.docstrings import read_docstring
from perdure.contracts.errors import ToolError, UnknownToolError
from perdure.contracts.failures import bounded
from perdure.contracts.names import RESERVED_ACTIVITIES
from perdure.contracts.tools import CallContext, ToolSpec

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TEMPORAL_PREFIX = "__temporal_"


class _Untitled(GenerateJsonSchema):
    # A title repeats the parameter's name, and every model call pays for it.
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that serves a tool: ``spec`` is what the model is told, ``origin`` where the function stands."""

    spec: ToolSpec
    function: Callable[..., Any]
    arguments: type[BaseModel]
    context_parameter: str | None = None
    origin: str = ""

    def keywords(self, arguments: Mapping[str, JsonValue], context: CallContext) -> dict[str, Any]:
        """The keyword arguments to call the function with: ``arguments`` as the signature's types, and the context.

        Raises `ToolError` naming each argument that is missing, unknown or of a wrong type.
        """
        try:
            checked = self.arguments.model_validate_json(json.dumps(arguments))
        except ValidationError as error:
            raise ToolError(_complaint(self.spec.name, error)) from None
        given = {
            str(field.alias): getattr(checked, name)
            for name, field in self.arguments.model_fields.items()
            if name in checked.model_fields_set
        }
        return given if self.context_parameter is None else {**given, self.context_parameter: context}


def tool_from(function: Callable[..., Any]) -> Tool:
    """``function``, decorated with ``tool`` or plain, as a tool.

    A parameter annotated `CallContext` is given the call's context and is not shown to the model; one without an
    annotation takes any JSON. Raises `UnknownToolError` when the name or the signature cannot serve, saying what to do.
    """
    declaration = declared_of(function) or Declaration()
    origin = _origin(function)
    name = declaration.name or getattr(function, "__name__", "")
    _check_name(name, origin)
    where = f"The tool {name!r} ({origin})"
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise UnknownToolError(f"{where} is a generator: let it return its result instead of yielding.")
    described = read_docstring(function)
    fields: dict[str, Any] = {}
    context_parameter: str | None = None
    for position, (parameter, annotation) in enumerate(_signature(function, where)):
        if _is_context(annotation):
            context_parameter = parameter.name
            continue
        description = described.parameters.get(parameter.name, "")
        fields[f"p{position}"] = (_described(annotation, description), _field(parameter))
    names = {field.alias for _, field in fields.values()}
    for named in (*declaration.path_arguments, *filter(None, [declaration.command_argument])):
        if named not in names:
            raise UnknownToolError(f"{where} declares {named!r} as a path or a command, but has no such parameter.")
    try:
        arguments = create_model(
            "Arguments", __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=False), **fields
        )
        schema = arguments.model_json_schema(schema_generator=_Untitled)
    except PydanticUserError as error:
        reason = str(error).splitlines()[0]
        raise UnknownToolError(
            f"{where} has a parameter type that has no JSON form ({reason}) "
            "Use str, int, float, bool, list, dict, Literal, an Enum, a dataclass or a pydantic model."
        ) from None
    schema.pop("title", None)
    schema.setdefault("properties", {})
    try:
        spec = ToolSpec(
            name=name,
            description=described.text,
            parameters=schema,
            effect=declaration.effect,
            idempotent=declaration.idempotent,
            polling=declaration.polling,
            handler=declaration.handler,
            deadline=declaration.deadline,
            path_arguments=declaration.path_arguments,
            command_argument=declaration.command_argument,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise UnknownToolError(
            f"{where} declares {'.'.join(map(str, first['loc']))} wrongly: {first['msg'].lower()}."
        ) from None
    return Tool(spec, function, arguments, context_parameter, origin)


def _check_name(name: str, origin: str) -> None:
    if not NAME.fullmatch(name):
        raise UnknownToolError(
            f"The tool name {name!r} ({origin}) cannot be used: 1 to 64 characters of a-z, A-Z, 0-9, _ and - are. "
            'Give it another with @perdure.tool(name="…").'
        )
    if name in RESERVED_ACTIVITIES or name.startswith(TEMPORAL_PREFIX):
        raise UnknownToolError(
            f'The tool name {name!r} ({origin}) is reserved. Give it another with @perdure.tool(name="…").'
        )


def _signature(function: Callable[..., Any], where: str) -> list[tuple[inspect.Parameter, Any]]:
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise UnknownToolError(f"{where} has a signature that cannot be read: {error}.") from None
    for parameter in parameters:
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
                raise UnknownToolError(
                    f"{where} takes {str(parameter).split(':')[0]}, which no model can fill: name each parameter, "
                    "or take one of type list or dict."
                )
            case inspect.Parameter.POSITIONAL_ONLY:
                raise UnknownToolError(
                    f"{where} takes {parameter.name!r} by position only, and tools are called by name: remove the `/`."
                )
    return [(parameter, hints.get(parameter.name, Any)) for parameter in parameters]


def _is_context(annotation: Any) -> bool:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, Annotated):
        return any(_is_context(part) for part in typing.get_args(annotation))
    return annotation is CallContext


def _described(annotation: Any, description: str) -> Any:
    # What stands at the type itself is the more deliberate word: Annotated[int, "seconds"] or Field(description=…).
    if typing.get_origin(annotation) is Annotated:
        _, *notes = typing.get_args(annotation)
        if any(isinstance(note, FieldInfo) and note.description for note in notes):
            return annotation
        description = next((note for note in notes if isinstance(note, str)), description)
    return Annotated[annotation, Field(description=description)] if description else annotation


def _field(parameter: inspect.Parameter) -> Any:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return Field(alias=parameter.name)
    try:
        pydantic_core.to_jsonable_python(default)
    except pydantic_core.PydanticSerializationError:
        # The schema cannot show such a default; the function's own one holds all the same.
        return Field(alias=parameter.name, default_factory=lambda: default)
    return Field(alias=parameter.name, default=default)


def _origin(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return str(getattr(function, "__module__", "") or "unknown place")
    return f"{code.co_filename}:{code.co_firstlineno}"


def _complaint(tool: str, error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    faults = [f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg'].lower()}" for each in found]
    return bounded(f"The arguments do not fit {tool}: {'; '.join(faults)}.")
