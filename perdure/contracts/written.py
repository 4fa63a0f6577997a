"""The form of what people build: read strictly, so that a misspelt field hurts at once instead of being passed over.

Data that was recorded is read back tolerantly, as any `Record` is: validation makes an instance without arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.failures import bounded
from perdure.contracts.record import Record


class Written(Record):
    """A record that people build. Raises InvalidInputError for an unknown field or a value that does not fit, in
    records within it too."""

    if not TYPE_CHECKING:  # A checker knows the fields by name, which it would not see here.

        def __new__(cls, *args: Any, **fields: Any) -> Self:
            """Check what was written, if anything was."""
            if fields:
                try:
                    cls.__pydantic_validator__.validate_python(fields, extra="forbid")
                except ValidationError as error:
                    raise InvalidInputError(f"{cls.__name__} cannot be made: {explained(error)}.") from None
            return super().__new__(cls)


def explained(error: ValidationError) -> str:
    """What is wrong and where, for whoever wrote it; never the values themselves."""
    problems = (
        f"{'.'.join(str(step) for step in problem['loc'] if step) or 'input'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    )
    return bounded("; ".join(list(problems)[:5]))
