"""Reading the output of a run as the type that it was asked for."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from perdure.client.typed import adapter_of
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.failures import bounded
from perdure.contracts.state import RunOutput

R = TypeVar("R")


def read_as(output: RunOutput, kind: type[R]) -> R:
    """The data of ``output`` as ``kind``; its text, where that is asked for and there is no data.

    Raises InvalidInputError, which says why it is none.
    """
    plain = kind is str and output.data is None and output.end in (None, "completed")
    try:
        return adapter_of(kind).validate_python(output.output if plain else output.data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    name = getattr(kind, "__name__", str(kind))
    if output.data is not None:
        where = ".".join(map(str, first["loc"]))
        said = f"{where}: {first['msg']}" if where else first["msg"]
        raise InvalidInputError(
            bounded(f"The output of run {output.run_id} is no {name}: {said}. It fits the schema that the run has.")
        )
    if output.end not in (None, "completed"):
        raise InvalidInputError(f"Run {output.run_id} has no {name}: its last turn ended {output.end}.")
    raise InvalidInputError(
        f"The output of run {output.run_id} is text, no {name}: output() has it. Start the run with output={name}."
    )
