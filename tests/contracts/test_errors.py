from __future__ import annotations

import re
from datetime import timedelta
from typing import get_args

import pytest

from perdure.contracts import errors
from perdure.contracts.errors import (
    InvalidInputError,
    PerdureError,
    PortInUseError,
    ProviderError,
    RateLimitedError,
    RunFailedError,
    UnknownAgentError,
)
from perdure.contracts.failures import MAX_MESSAGE, Failure, FailureKind, bounded

LINE = re.compile(r"^(?P<indent>[│ ]*)(?:[├└]── )?(?P<name>[A-Z]\w+Error)\b")


def drawn() -> dict[str, str | None]:
    """Class -> parent, as the module's docstring draws the tree."""
    parents: dict[str, str | None] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := LINE.match(line):
            depth = len(found["indent"]) // 4 + ("──" in line)
            parents[found["name"]] = above[depth - 1] if depth else None
            above[depth:] = [found["name"]]
    return parents


def defined() -> dict[str, str | None]:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, PerdureError)]
    return {each.__name__: None if each is PerdureError else each.__bases__[0].__name__ for each in classes}


def kinds_of(error: type[PerdureError]) -> set[str]:
    return {error.kind}.union(*(kinds_of(each) for each in error.__subclasses__()))


def test_the_tree_that_is_drawn_is_the_tree_of_the_classes() -> None:
    assert drawn() == defined()


def test_every_kind_of_an_error_is_a_kind_of_failure() -> None:
    assert kinds_of(PerdureError) <= set(get_args(FailureKind))


def test_no_two_kinds_of_provider_error_are_told_apart_by_their_class_alone() -> None:
    kinds = [error.kind for error in ProviderError.__subclasses__()]

    assert len(kinds) == len(set(kinds))


def test_a_provider_error_names_the_provider_and_what_it_said_and_is_whole_as_data() -> None:
    error = RateLimitedError(
        "openai", "too many requests", status=429, code="rate_limit", request_id="r1", retry_after=timedelta(seconds=3)
    )

    assert str(error) == "openai: too many requests (status 429, rate_limit)"
    assert error.failure() == Failure(
        kind="rate_limited",
        message=str(error),
        attribution="provider",
        retryable=True,
        status=429,
        code="rate_limit",
        provider="openai",
        provider_request_id="r1",
    )


def test_a_message_never_exceeds_what_a_history_may_hold() -> None:
    assert len(bounded("x" * 10_000)) == MAX_MESSAGE
    assert bounded("x" * MAX_MESSAGE) == "x" * MAX_MESSAGE
    assert len(InvalidInputError("x" * 10_000).failure().message) == MAX_MESSAGE
    assert len(ProviderError("openai", "x" * 10_000).failure().message) == MAX_MESSAGE


def test_a_failed_run_passes_on_its_cause() -> None:
    cause = Failure(kind="quota", message="no credit left", attribution="operator")

    assert RunFailedError("run-1", cause).failure() == cause


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (UnknownAgentError("clerc", ("clerk", "cook")), "no agent named 'clerc'. Known agents: clerk, cook"),
        (UnknownAgentError("clerc", ()), "Known agents: none"),
        (PortInUseError(7233), "Port 7233 is taken by another program. Choose a free one"),
    ],
)
def test_an_error_says_what_is_wrong_and_what_to_do(error: PerdureError, says: str) -> None:
    assert says in str(error)
