"""The next command after an error, where the error's own sentence names none."""

from __future__ import annotations

from perdure.contracts.errors import (
    AgentFileError,
    KeyMissingError,
    PerdureError,
    ProviderError,
    UnknownAgentError,
    UnknownModelError,
    UnknownToolError,
)


def next_step(error: PerdureError) -> str:
    """A sentence with the command that helps on; empty when there is none to name."""
    match error:
        case AgentFileError() | UnknownAgentError():
            return "`perdure agents` lists the agents and what is wrong with their files."
        case UnknownModelError() | KeyMissingError():
            return "`perdure models` lists which are ready."
        case UnknownToolError():
            return "Tools of your own are given with --tools FILE.py, or by the setting `tools`."
        case ProviderError():
            return "`perdure models` shows the addresses and keys of providers."
        case _:
            return ""
