"""What Temporal raises, as errors of ours that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from temporalio.client import WorkflowQueryFailedError, WorkflowQueryRejectedError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.contracts.errors import (
    InvalidInputError,
    OperatorError,
    OrderRefusedError,
    PerdureError,
    RunAlreadyRunningError,
    RunNotFoundError,
    ServerUnavailableError,
)

LONGEST_ID = 1_000
"""Characters of a workflow's id at most: longer ones the server cannot know."""


@contextmanager
def rpc_errors(address: str, run_id: str = "") -> Iterator[None]:
    """Turn what Temporal raises inside the block into our errors about the run ``run_id``."""
    try:
        yield
    except WorkflowAlreadyStartedError:
        raise RunAlreadyRunningError(run_id) from None
    except WorkflowUpdateFailedError as error:
        cause = error.cause
        raise OrderRefusedError(cause.message if isinstance(cause, ApplicationError) else str(cause)) from None
    except (WorkflowQueryFailedError, WorkflowQueryRejectedError) as error:
        raise OperatorError(f"Run {run_id} does not answer: {error}. Its history still does.") from None
    except RPCError as error:
        raise _of_status(error, address, run_id) from None


def _of_status(error: RPCError, address: str, run_id: str) -> PerdureError:
    match error.status:
        case RPCStatusCode.NOT_FOUND if "completed" in error.message:
            return OrderRefusedError(f"Run {run_id} has ended: nothing can be told to it any more.")
        case RPCStatusCode.NOT_FOUND:
            return RunNotFoundError(run_id)
        case RPCStatusCode.INVALID_ARGUMENT if len(run_id) > LONGEST_ID:
            return RunNotFoundError(run_id)
        case RPCStatusCode.INVALID_ARGUMENT:
            return InvalidInputError(f"The Temporal server at {address} takes no such input: {error.message}")
        case RPCStatusCode.UNAVAILABLE:
            return ServerUnavailableError(address, "connection lost")
        case RPCStatusCode.DEADLINE_EXCEEDED | RPCStatusCode.CANCELLED if not run_id:
            return ServerUnavailableError(address, "no answer in time")
        case RPCStatusCode.DEADLINE_EXCEEDED | RPCStatusCode.CANCELLED | RPCStatusCode.FAILED_PRECONDITION:
            return OperatorError(
                f"Run {run_id} did not answer in time: no worker serves it now. Start one with `perdure worker`."
            )
        case _:
            return OperatorError(f"The Temporal server at {address} refused: {error.message}")
