from __future__ import annotations

import re

import click
import pytest

from perdure.cli.app import COMMANDS, app
from perdure.cli.next import next_step
from perdure.contracts.errors import (
    AgentFileError,
    InvalidInputError,
    KeyMissingError,
    PerdureError,
    RateLimitedError,
    UnknownAgentError,
    UnknownModelError,
    UnknownToolError,
)


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (UnknownAgentError("nobody", ()), "perdure agents"),
        (AgentFileError("clerk.md:2:1: wrong"), "perdure agents"),
        (UnknownModelError("no such model"), "perdure models"),
        (KeyMissingError("openai", "OPENAI_API_KEY"), "perdure models"),
        (RateLimitedError("openai", "slow down"), "perdure models"),
        (UnknownToolError("no such tool"), "--tools"),
        (InvalidInputError("The message is empty."), ""),
    ],
)
def test_an_error_names_a_command_that_exists(error: PerdureError, named: str) -> None:
    step = next_step(error)

    assert named in step
    for name in re.findall(r"`perdure (\w+)", step):
        assert app.get_command(click.Context(app), name) is not None
        assert name in COMMANDS
