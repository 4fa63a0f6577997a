"""Which workflows are runs, and which ids runs may have: the server has one space of ids for all workflows."""

from __future__ import annotations

from perdure.contracts.errors import InvalidInputError
from perdure.contracts.ids import run_id_problem
from perdure.contracts.names import AGENT_RUN, GRANT_BOOK


def check_is_run(workflow_id: str, workflow_type: str | None) -> None:
    """Raise InvalidInputError for a workflow that is no run, which says what to use instead."""
    if workflow_type == GRANT_BOOK:
        raise InvalidInputError(
            f"{workflow_id!r} is a book of grants and no run: `perdure grants` lists what is remembered, and "
            "`perdure grants revoke` takes it back."
        )
    if workflow_type != AGENT_RUN:
        raise InvalidInputError(f"{workflow_id!r} is no run, but a workflow of the type {workflow_type!r}.")


def check_new_run_id(run_id: str) -> None:
    """Raise InvalidInputError for an id under which no run can be started."""
    given: object = run_id
    if not isinstance(given, str):
        raise InvalidInputError(f"The id of a run is a text, not {type(given).__name__}.")
    problem = run_id_problem(given)
    if problem:
        raise InvalidInputError(problem[0].upper() + problem[1:])
