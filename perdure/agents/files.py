"""An agent as one Markdown file: a YAML head that says what it may use, and its prompt below."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, JsonValue, StringConstraints, ValidationError

from perdure.agents.bounded import read_bounded
from perdure.agents.frontmatter import Head, Key, PlacedError, read_head
from perdure.agents.hosted import hosted_fault
from perdure.agents.policies import MisfitError, read_policy
from perdure.contracts.agent import AgentSpec, Limits, Purpose, ToolPolicy, Waiting
from perdure.contracts.durations import Duration
from perdure.contracts.errors import AgentFileError
from perdure.contracts.record import FileRecord, Record
from perdure.contracts.schemas import schema_fault
from perdure.contracts.tools import HostedTool

MOST_BYTES = 1024 * 1024
UTF8_MARK = "\ufeff"

Word = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$")]
ModelName = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^:\s]+:\S+$")]


class _Waiting(Record):
    deadline: Duration | None = None
    default: Literal["deny", "approve"] = "deny"
    remind: Duration | None = None


class _Hosted(FileRecord):
    tool: Literal["web_search", "code_execution", "mcp"]
    server: str = ""
    url: str = ""
    allowed_tools: tuple[Word, ...] = ()
    allowed_domains: tuple[Word, ...] = ()
    blocked_domains: tuple[Word, ...] = ()
    max_uses: int | None = None


class _Head(FileRecord):
    name: Word
    description: str = ""
    model: ModelName | None = None
    fallbacks: tuple[ModelName, ...] | None = None
    models: dict[Purpose, ModelName] = {}
    tools: tuple[Word, ...] | None = None
    hosted: tuple[_Hosted, ...] = ()
    policy: dict[Word, JsonValue] = {}
    waiting: _Waiting = _Waiting()
    limits: Limits = Limits()
    output: dict[str, JsonValue] | None = None


_NESTED: dict[Key, type[BaseModel]] = {"waiting": _Waiting, "limits": Limits, "hosted": _Hosted}
"""The keys that hold keys of their own. A policy's are checked where it is read."""

OWN_PREFIX = "x-"
"""Keys that begin so are people's own, and mean nothing here."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with the file of the agent ``name``, and where (counted from 1). A warning leaves it usable."""

    name: str
    file: Path
    line: int
    column: int
    message: str
    severity: Literal["warning", "error"] = "error"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


@dataclass(frozen=True, slots=True)
class AgentFile:
    """An agent that was read from a file, with what its author should look at."""

    file: Path
    spec: AgentSpec
    warnings: tuple[Problem, ...] = ()


def read_agent(file: Path) -> AgentFile:
    """The agent in ``file``, named after the file when it gives no name.

    Raises `AgentFileError` naming file, line and column when the file cannot be used, for an unknown key too.
    """
    match examine(file):
        case Problem() as problem:
            raise AgentFileError(str(problem))
        case agent:
            return agent


def examine(file: Path) -> AgentFile | Problem:
    """The agent in ``file``, or why there is none."""
    name = file.stem
    try:
        text = _text(file)
        head = read_head(text.removeprefix(UTF8_MARK))
        written = head.values.get("name")
        name = written if isinstance(written, str) and written else name
        return _agent(file, text, head)
    except PlacedError as error:
        return Problem(name, file, *error.place, str(error))


def _text(file: Path) -> str:
    try:
        data = read_bounded(file, MOST_BYTES)
    except OSError as error:
        raise PlacedError((1, 1), f"The file cannot be read: {(error.strerror or str(error)).lower()}.") from None
    if len(data) > MOST_BYTES:
        raise PlacedError((1, 1), f"An agent file has at most {MOST_BYTES:,} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise PlacedError((line, column), "This is not UTF-8: save the file as UTF-8.") from None


def parse_agent(file: Path, text: str) -> AgentFile:
    """The agent in ``text``, which was read from ``file``. Raises `PlacedError` when it cannot be used."""
    return _agent(file, text, read_head(text.removeprefix(UTF8_MARK)))


def _agent(file: Path, text: str, head: Head) -> AgentFile:
    if not (head.values or head.body):
        # What a save that broke off leaves: an agent of it would have every tool and no prompt.
        raise PlacedError((1, 1), "The file says nothing: write a prompt, or delete the file.")
    unknown = sorted((path for path in head.key_places if _unknown(path)), key=lambda path: head.key_places[path])
    if unknown:
        raise _unknown_key(unknown, head)
    known = {key: value for key, value in head.values.items() if key in _Head.model_fields}
    if known.get("name") is None:
        known["name"] = file.stem
    if "tools" in known and known["tools"] is None:
        raise PlacedError(
            head.place(("tools",)), "tools is empty: write `tools: []` for none, or leave it out for all."
        )
    try:
        # JSON, so that strict types still take a list for a tuple, and a date (YAML makes one of 2024-05-14) for text.
        checked = _Head.model_validate_json(json.dumps(known, default=str), strict=True)
    except ValidationError as error:
        raise _unfit(head, error) from None
    if checked.output is not None and (fault := schema_fault(checked.output)):
        raise PlacedError(head.place(("output", *fault.path)), str(fault))
    spec = AgentSpec(
        name=checked.name,
        description=checked.description,
        prompt=head.body,
        model=checked.model,
        fallbacks=checked.fallbacks,
        models=checked.models,
        tools=checked.tools,
        hosted=_hosted(head, checked.hosted),
        policy=_policy(head, checked.policy),
        waiting=_waiting(head, checked.waiting),
        limits=checked.limits,
        output=checked.output,
    )
    if spec.prompt:
        return AgentFile(file, spec)
    last = len(text.splitlines()) or 1
    said = "The agent has no prompt: write it below the head."
    return AgentFile(file, spec, (Problem(spec.name, file, last, 1, said, severity="warning"),))


def _policy(head: Head, written: dict[str, JsonValue]) -> tuple[ToolPolicy, ...]:
    try:
        return read_policy(written)
    except MisfitError as error:
        path = ("policy", *error.path)
        place = head.key_places.get(path) if error.of_key else None
        raise PlacedError(place or head.place(path), f"{_dotted(path)} {error}.") from None


def _hosted(head: Head, written: tuple[_Hosted, ...]) -> tuple[HostedTool, ...]:
    tools = tuple(HostedTool(**tool.model_dump()) for tool in written)
    for position, tool in enumerate(tools):
        if fault := hosted_fault(tool):
            raise PlacedError(head.place(("hosted", position)), f"{fault[0].upper()}{fault[1:]}.")
    return tools


def _waiting(head: Head, written: _Waiting) -> Waiting:
    if written.remind and (written.deadline is None or written.remind >= written.deadline):
        raise PlacedError(head.place(("waiting", "remind")), "waiting.remind should be shorter than waiting.deadline.")
    if written.default == "approve" and written.deadline is None:
        raise PlacedError(head.place(("waiting", "default")), "waiting.default says what holds after waiting.deadline.")
    return Waiting(deadline=written.deadline, default=written.default, remind=written.remind)


def _unknown(path: tuple[Key, ...]) -> bool:
    match path:
        case (str(key),) if key.startswith(OWN_PREFIX):
            return False
        case (key,):
            return key not in _Head.model_fields
        case (outer, key) | (outer, int(), key) if outer in _NESTED:
            return key not in _NESTED[outer].model_fields
        case _:
            return False


def _unknown_key(unknown: Sequence[tuple[Key, ...]], head: Head) -> PlacedError:
    path, *others = unknown
    known = list((_Head if len(path) == 1 else _NESTED[path[0]]).model_fields)
    near = difflib.get_close_matches(str(path[-1]), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
    return PlacedError(head.key_places[path], f"The key {_dotted(path)!r} is unknown{_more(others)}: {hint}")


def _unfit(head: Head, error: ValidationError) -> PlacedError:
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    path = first["loc"]
    match first["type"], path:
        case "string_pattern_mismatch", ("model" | "fallbacks" | "models", *_):
            said = "should be written provider:model, as in openai:gpt-5"
        case "string_pattern_mismatch", _:
            said = "should be one line without blanks around it"
        case "literal_error", ("models", *_):
            said = f"is no purpose that a model can be named for: known are {', '.join(get_args(Purpose))}"
        case "tuple_type", ("fallbacks", *_):
            said = "should be a list of models, as in [openai:gpt-5, anthropic:claude-sonnet-5]"
        case "tuple_type", _:
            said = "should be a list, as in [read_file, list_dir]"
        case "dict_type" | "model_type", _:
            said = "should be lines of `key: value`"
        case "time_delta_type" | "time_delta_parsing" | "greater_than", ("waiting", *_):
            said = "should be a duration such as 30s, 5m, 2h or 1d"
        case _:
            said = first["msg"].removeprefix("Input ")
    return PlacedError(head.place(path), f"{_dotted(path)} {said[0].lower()}{said[1:]}{_more(others)}.")


def _more(others: Sequence[object]) -> str:
    return f" ({len(others)} more to mend)" if others else ""


def _dotted(path: tuple[Key, ...]) -> str:
    return ".".join(str(part) for part in path if part != "[key]")
