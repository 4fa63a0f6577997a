"""How single values of settings are read and checked: text of a variable, or what a TOML file holds."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from perdure.agents.policies import read_policy
from perdure.contracts.urls import unusable, url_fault
from perdure.providers.catalogue import lay_over


def read_list(value: Any) -> Any:
    """Text with commas as a list: an environment variable holds no other kind."""
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value


def read_command(value: Any) -> Any:
    """Text as the words of a command, with quotes as a shell reads them and nothing else of a shell."""
    return shlex.split(value) if isinstance(value, str) else value


def check_url(value: str) -> str:
    """An address for all to see. Raises ValueError."""
    if fault := url_fault(value):
        raise ValueError(f"it {fault}")
    return value


def check_secret_url(value: SecretStr) -> SecretStr:
    """The URL, which is a secret where it lets whoever knows it in. Raises ValueError."""
    if fault := unusable(value.get_secret_value()):
        raise ValueError(f"it {fault}")
    return value


def read_table(value: Any) -> Any:
    """Text as JSON. Raises ValueError for text that is none."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except json.JSONDecodeError as error:
        raise ValueError(f"this is no JSON ({error})") from None


def read_keys(value: Any) -> Any:
    """A table of addresses, or its JSON. Raises ValueError for an address that cannot be used or holds a credential."""
    value = read_table(value)
    for address in value if isinstance(value, dict) else ():
        check_url(address)
    return value


def read_providers(value: Any) -> Any:
    """A table of providers, or its JSON, laid over those that are known."""
    return lay_over(read_table(value))


def read_rules(value: Any) -> Any:
    """A table of rules, or its JSON, as rules. Raises ValueError saying what is wrong where."""
    value = read_table(value)
    return read_policy(value) if isinstance(value, dict) else value


def full_path(value: Any) -> Any:
    """A path with ``~`` replaced by the home folder, absolute."""
    return Path(value).expanduser().absolute() if isinstance(value, str | Path) else value


def no_switch(value: Any) -> Any:
    """Anything but true and false, which would count as 1 and 0. Raises ValueError."""
    if isinstance(value, bool):
        raise ValueError("no number")
    return value
