"""The tools that a worker serves, by name, and the way from what a person wrote (``module:function``) to them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from perdure.activities.declaration import declared_of
from perdure.activities.functions import Tool, tool_from
from perdure.activities.sources import load_source
from perdure.contracts.errors import UnknownToolError
from perdure.contracts.tools import ToolSpec


class Toolbox:
    """Tools by name, each name once. Raises `UnknownToolError` when two tools claim one name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            other = self._tools.setdefault(tool.spec.name, tool)
            if other.function != tool.function:
                raise UnknownToolError(
                    f"Two tools are named {tool.spec.name!r}: {other.origin} and {tool.origin}. "
                    'Rename one with @perdure.tool(name="…").'
                )

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which the tools were given."""
        return tuple(self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model and the authority are told about each tool."""
        return tuple(tool.spec for tool in self)


def load_tools(paths: Iterable[str], *, builtin: Iterable[Tool] = ()) -> Toolbox:
    """The built-in tools and those that ``paths`` lead to.

    A path is ``module:function``, ``path/to/file.py:function``, or ``path/to/file.py``: every function there that is
    decorated with ``perdure.tool``, or, when none is, every public function that the file defines. Importing runs the
    module. Raises `UnknownToolError` saying what does not lead to a tool, and why.
    """
    return Toolbox([*builtin, *(tool_from(function) for path in paths for function in _functions(path))])


def _functions(path: str) -> list[Callable[..., Any]]:
    source, name = _parted(path)
    module = load_source(source, path)
    if name is None:
        return _defined(module, path)
    function = getattr(module, name, None)
    if function is None:
        near = difflib.get_close_matches(name, _public(module), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"It defines: {', '.join(_public(module)) or 'none'}."
        raise UnknownToolError(f"Tool path {path!r}: {source} has no function {name!r}. {hint}")
    if not inspect.isroutine(function):
        raise UnknownToolError(f"Tool path {path!r}: {name!r} is no function but a {type(function).__name__}.")
    return [function]


def _parted(path: str) -> tuple[str, str | None]:
    if path.endswith(".py"):
        return path, None
    source, colon, name = path.rpartition(":")
    if not colon or not source or not name:
        raise UnknownToolError(
            f"Tool path {path!r} leads nowhere: write module:function, path/to/file.py:function or path/to/file.py."
        )
    return source, name


def _public(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and inspect.isfunction(value) and value.__module__ == module.__name__
    ]


def _defined(module: ModuleType, path: str) -> list[Callable[..., Any]]:
    own = [
        value for value in vars(module).values() if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    functions: list[Callable[..., Any]] = [function for function in own if declared_of(function) is not None]
    functions = functions or [getattr(module, name) for name in _public(module)]
    if not functions:
        raise UnknownToolError(f"Tool path {path!r}: the file defines no public function.")
    return list(dict.fromkeys(functions))
