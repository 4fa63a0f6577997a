"""The inputs of activities: read here and not by the SDK.

The trap: input that the SDK cannot read ends an attempt with a plain error, which is retried without end and quotes the
input. Anybody may call an activity by its name, so what does not fit is answered for good, by field and without values.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json
from temporalio import activity

from perdure.activities.posture import posture
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.record import Record
from perdure.contracts.written import explained

F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


def activity_named(name: str) -> Callable[[F], F]:
    """Make an asynchronous function or method the activity ``name``, called with what its annotations say.

    Input that cannot be read as that fails for good, as `InvalidInputError`.
    """

    def define(function: F) -> F:
        hints = get_type_hints(function)
        parameters = list(inspect.signature(function).parameters)
        bound = int(parameters[:1] == ["self"])
        kinds = {parameter: TypeAdapter(hints[parameter]) for parameter in parameters[bound:]}

        # Without annotations of its own, so that the SDK hands over any JSON, and however many values there are.
        @activity.defn(name=name)
        async def called(*given: Any) -> Any:
            with posture():
                values = _read(name, kinds, given[bound:])
            return await function(*given[:bound], *values)

        return cast(F, called)

    return define


def _read(name: str, kinds: dict[str, TypeAdapter[Any]], given: tuple[Any, ...]) -> list[Any]:
    if len(given) != len(kinds):
        wanted = f"{len(kinds)} input{'s' * (len(kinds) != 1)}"
        raise InvalidInputError(f"The activity {name} takes {wanted} ({', '.join(kinds)}) and got {len(given)}.")
    return [_one(name, parameter, kinds[parameter], value) for parameter, value in zip(kinds, given, strict=True)]


def _one(name: str, parameter: str, kind: TypeAdapter[Any], value: Any) -> Any:
    try:
        # A record comes from a caller in this process; the SDK, which is told no type, hands JSON over.
        return kind.validate_python(value) if isinstance(value, Record) else kind.validate_json(to_json(value))
    except ValidationError as error:
        why = explained(error)
    except PydanticSerializationError:
        why = "it is no JSON"
    raise InvalidInputError(f"The activity {name} cannot read its input {parameter!r}: {why}.")
