from __future__ import annotations

import pytest
from temporalio.client import WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from perdure.client.rpc import rpc_errors
from perdure.contracts.errors import (
    InvalidInputError,
    OperatorError,
    OrderRefusedError,
    PerdureError,
    RunAlreadyRunningError,
    RunNotFoundError,
    ServerUnavailableError,
)


def rpc_error(status: RPCStatusCode, message: str = "said the server") -> RPCError:
    return RPCError(message, status, b"")


@pytest.mark.parametrize(
    ("raised", "expected", "told"),
    [
        (rpc_error(RPCStatusCode.NOT_FOUND), RunNotFoundError, "no run 'r1'"),
        (rpc_error(RPCStatusCode.NOT_FOUND, "workflow execution already completed"), OrderRefusedError, "has ended"),
        (rpc_error(RPCStatusCode.INVALID_ARGUMENT), InvalidInputError, "takes no such input: said the server"),
        (rpc_error(RPCStatusCode.UNAVAILABLE), ServerUnavailableError, "host:7233"),
        (rpc_error(RPCStatusCode.DEADLINE_EXCEEDED), OperatorError, "perdure worker"),
        (rpc_error(RPCStatusCode.FAILED_PRECONDITION), OperatorError, "perdure worker"),
        (rpc_error(RPCStatusCode.PERMISSION_DENIED), OperatorError, "refused: said the server"),
        (WorkflowAlreadyStartedError("r1", "AgentRun"), RunAlreadyRunningError, "running already"),
        (WorkflowUpdateFailedError(ApplicationError("The call is settled.")), OrderRefusedError, "call is settled"),
    ],
)
def test_what_temporal_raises_says_what_to_do(raised: Exception, expected: type[PerdureError], told: str) -> None:
    with pytest.raises(expected, match=told), rpc_errors("host:7233", "r1"):
        raise raised


def test_a_run_whose_id_no_server_takes_is_one_that_does_not_exist() -> None:
    with pytest.raises(RunNotFoundError), rpc_errors("host:7233", "x" * 1_001):
        raise rpc_error(RPCStatusCode.INVALID_ARGUMENT)


def test_a_server_that_does_not_answer_is_not_taken_for_a_run_without_a_worker() -> None:
    with pytest.raises(ServerUnavailableError, match="host:7233"), rpc_errors("host:7233"):
        raise rpc_error(RPCStatusCode.DEADLINE_EXCEEDED)


def test_other_errors_pass_as_they_are() -> None:
    with pytest.raises(KeyError), rpc_errors("host:7233"):
        raise KeyError("mine")
