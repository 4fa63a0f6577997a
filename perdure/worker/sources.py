"""Where settings come from: arguments, environment, ``.env``, ``perdure.toml``; the first that has a value wins.

Every value keeps its origin until it was checked, so that an error can say where the person has to look.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, get_origin

import platformdirs
from dotenv.parser import parse_stream
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from perdure.agents.policies import MisfitError
from perdure.contracts.errors import InvalidSettingsError
from perdure.contracts.record import FileRecord
from perdure.providers.catalogue import Endpoint
from perdure.providers.own_prices import Price
from perdure.worker.settings import APPLICATION, Settings

PREFIX = "PERDURE_"
FILE = "perdure.toml"
OTHERS = frozenset({"actor", "debug"})
"""Variables of the environment with our prefix that are no settings: they are about whoever calls the command line
(``PERDURE_ACTOR``: who that is; ``PERDURE_DEBUG``: show tracebacks)."""
RECORDS: Mapping[str, type[FileRecord]] = {"providers": Endpoint, "prices": Price}
"""What the tables of a setting's table are."""
SHOWN = 60
"""Characters of a wrong value that an error repeats."""


@dataclass(frozen=True, slots=True)
class Source:
    """Values of one origin. ``origin`` completes "… in"; empty for arguments. ``text`` is a TOML file's content."""

    origin: str
    values: Mapping[str, Any]
    prefix: str = ""
    text: str | None = None

    def label(self, path: tuple[str, ...]) -> str:
        """How a person finds the setting: ``PERDURE_PORT in the environment``, ``port in /x/perdure.toml, line 3``."""
        name = self.prefix + path[0].upper() if self.prefix else ".".join(path)
        if not self.origin:
            return name
        line = None if self.text is None else line_of(self.text, path)
        return f"{name} in {self.origin}{f', line {line}' if line else ''}"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and what was read beside them.

    ``environ`` is the environment with ``.env`` below it: providers look for their keys there. ``warnings`` are
    sentences for the person: variables that look like settings and are none.
    """

    settings: Settings
    environ: Mapping[str, str]
    warnings: tuple[str, ...] = field(default=())


def load_settings(
    given: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path | None = None,
    config_folder: Path | None = None,
) -> Loaded:
    """Read all sources and check them. Raises InvalidSettingsError, which names the setting and its origin.

    ``given`` are explicit arguments by setting name; None among them counts as not given. ``folder`` (default: the
    working folder) is where ``.env`` and ``perdure.toml`` are looked for, ``config_folder`` (default: the user's) holds
    a second ``perdure.toml``.
    """
    here = folder or Path.cwd()
    arguments = {name: value for name, value in (given or {}).items() if value is not None}
    dotenv, notes = read_dotenv(here / ".env")
    sources = [
        Source("", arguments),
        Source("the environment", _without(OTHERS, settings_in(environ)), PREFIX),
        Source(str(here / ".env"), settings_in(dotenv), PREFIX),
        *read_toml(here / FILE),
        *read_toml((config_folder or platformdirs.user_config_path(APPLICATION)) / FILE),
    ]
    for source in sources:
        for name in source.values.keys() - Settings.model_fields.keys():
            if not source.prefix:
                raise InvalidSettingsError(f"There is no setting {source.label((name,))}.{suggestion(name)}")
            notes.append(f"{source.label((name,))} is no setting and is passed over.{suggestion(name, source.prefix)}")
    return Loaded(checked(sources), {**dotenv, **environ}, tuple(notes))


def settings_in(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables with our prefix, by setting name. An empty one counts as unset."""
    return {
        name.removeprefix(PREFIX).lower(): value
        for name, value in variables.items()
        if name.startswith(PREFIX) and value
    }


def _without(names: Collection[str], values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name not in names}


def read_dotenv(path: Path) -> tuple[dict[str, str], list[str]]:
    """The variables of a ``.env`` file, and a warning for each line that cannot be read. Nothing is interpolated."""
    values: dict[str, str] = {}
    notes: list[str] = []
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return values, notes
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettingsError(f"{path} cannot be read: {_unread(error)}.") from error
    for binding in parse_stream(StringIO(text, newline=None)):
        if binding.error:
            notes.append(f"Line {binding.original.line} of {path} is not of the form NAME=value; passed over.")
        elif binding.key is not None:
            values[binding.key] = binding.value or ""
    return values, notes


def read_toml(path: Path) -> tuple[Source, ...]:
    """The source that a TOML file makes; none when there is no such file."""
    try:
        text = path.read_bytes().decode()
        return (Source(str(path), tomllib.loads(text), text=text),)
    except FileNotFoundError:
        return ()
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettingsError(f"{path} is not valid TOML: {error}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettingsError(f"{path} cannot be read: {_unread(error)}.") from error


def _unread(error: OSError | UnicodeDecodeError) -> str:
    match error:
        case UnicodeDecodeError():
            line = error.object.count(b"\n", 0, error.start) + 1
            return f"line {line} is not UTF-8: save the file as UTF-8"
        case OSError():
            return (error.strerror or str(error)).lower()


def checked(sources: list[Source]) -> Settings:
    """One `Settings` of all sources, the first that has a value before the others; tables join by name.

    In a table the entries of the first source come first: of a policy's rules the first counts.
    """
    merged: dict[str, Any] = {}
    origins: dict[str, Source] = {}
    for source in reversed(sources):
        for name, value in source.values.items():
            if name not in Settings.model_fields:
                continue
            known = merged.get(name)
            merged[name] = {**value, **known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
            origins[name] = source
    try:
        return Settings(**merged)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = tuple(str(part) for part in first["loc"] if part != "[key]")
        if isinstance(wrong := first.get("ctx", {}).get("error"), MisfitError):
            path += tuple(str(part) for part in wrong.path)
        raise InvalidSettingsError(sentence(origins[path[0]], path, first)) from None


def sentence(source: Source, path: tuple[str, ...], error: ErrorDetails) -> str:
    """The one line that says what is wrong with a value. A secret's value is never repeated."""
    name, label = path[0], source.label(path)
    info = Settings.model_fields[name]
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    said = error["msg"].removeprefix("Value error, ")
    if name == "policy":
        return f"{label} {said}." if len(path) > 1 else f"{label}: {said}. It is {extra.get('expects', '')}."
    if get_origin(info.annotation) is dict:
        wrong = misfit(path, error["type"], said)
        return f"{label}: {wrong}." if len(path) > 1 else f"{label}: {wrong}. It is {extra.get('expects', '')}."
    value = source.values[name]
    shown = repr(str(value) if isinstance(value, Path) else value)[:SHOWN]
    # An address may hold a credential.
    secret = "Secret" in str(info.annotation) or "://" in str(value)
    stated = "has a value that cannot be used" if secret else f"is {shown}"
    return f"{label} {stated}: expected {extra.get('expects', '')}."


def misfit(path: tuple[str, ...], kind: str, said: str) -> str:
    """What is wrong within a table. A value is never repeated: it may be a key that stands in the wrong place."""
    fields = RECORDS[path[0]].model_fields if path[0] in RECORDS else {}
    match kind:
        case "extra_forbidden":
            near = difflib.get_close_matches(path[-1], fields, n=1)
            return f"there is no such field; {f'did you mean {near[0]}? ' if near else ''}known: {', '.join(fields)}"
        case "missing":
            return "it must be given"
        case "string_pattern_mismatch":
            return "it should be written provider:model, as in openai:gpt-5"
        case _:
            return f"it {said.removeprefix('Input ')}" if said.startswith("Input ") else said


def suggestion(name: str, prefix: str = "") -> str:
    """A sentence with the known setting that ``name`` resembles, or nothing."""
    close = difflib.get_close_matches(name, Settings.model_fields, n=1)
    return f" Did you mean {prefix + close[0].upper() if prefix else close[0]}?" if close else ""


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    """The line (from 1) of a TOML text on which ``path`` is set, as far as can be told by its own lines."""
    lines = text.splitlines()
    at = None
    start = 0
    for name in path:
        key = rf"['\"]?{re.escape(name)}['\"]?"
        pattern = re.compile(rf"^\s*(?:{key}\s*[.=]|\[\s*(?:[^\]=]*\.\s*)?{key}\s*[.\]])|[{{,.]\s*{key}\s*=")
        found = next((number for number in range(start, len(lines)) if pattern.search(lines[number])), None)
        if found is None:
            break
        at, start = found + 1, found
    return at
