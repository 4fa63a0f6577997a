"""Importing the Python files and modules that people name, with a one-line reason when it does not work."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from perdure.contracts.errors import InvalidSettingsError, UnknownToolError
from perdure.contracts.failures import bounded


def load_source(source: str, path: str, *, what: str = "Tool path") -> ModuleType:
    """The module of ``source``, a file (``….py``) or a dotted name, imported once. ``path`` is what a person wrote, and
    ``what`` what an error calls it.

    A file can import its neighbours, and a dotted name is also looked for in the current folder: both folders are put
    at the end of Python's path. Raises `UnknownToolError` in one line when there is no such thing or its import fails.
    """
    named = f"{what} {path!r}"
    return _load_file(Path(source), named) if source.endswith(".py") else _load_module(source, named)


def load_function(path: str, *, what: str, takes: tuple[str, ...]) -> Callable[..., Any]:
    """The plain function that ``path`` leads to (``module:function`` or ``path/to/file.py:function``).

    ``what`` is what an error calls the path, ``takes`` names the arguments that it will be called with. Raises
    `InvalidSettingsError` in one line when there is no such function.
    """
    source, _, name = path.rpartition(":")
    if not source or not name:
        raise InvalidSettingsError(f"{what} {path!r} leads nowhere: write module:function or path/to/file.py:function.")
    try:
        function: Any = getattr(load_source(source, path, what=what), name, None)
    except UnknownToolError as error:
        raise InvalidSettingsError(str(error)) from None
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        raise InvalidSettingsError(f"{what} {path!r}: {source} has no plain function {name!r}.")
    try:
        inspect.signature(function).bind(*takes)
    except TypeError:
        raise InvalidSettingsError(f"{what} {path!r}: {name} must take ({', '.join(takes)}).") from None
    found: Callable[..., Any] = function
    return found


def _load_file(file: Path, named: str) -> ModuleType:
    where = file.expanduser().resolve()
    if not where.is_file():
        raise UnknownToolError(f"{named}: there is no file {where}.")
    name = f"perdure_tools_{where.stem}_{hashlib.sha256(bytes(where)).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, where)
    if spec is None or spec.loader is None:
        raise UnknownToolError(f"{named}: {where} is no Python file.")
    _look_in(where.parent)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pydantic look the module up by its name while it is being imported.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise  # Nobody can tell the file's own from a person's.
    except BaseException as error:  # noqa: BLE001 - the file is somebody's: it may raise anything
        del sys.modules[name]
        raise UnknownToolError(_failed(named, error, str(where))) from None
    return module


def _load_module(name: str, named: str) -> ModuleType:
    _look_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise UnknownToolError(
                f"{named}: there is no module {error.name!r}, neither installed nor in {Path.cwd()}."
            ) from None
        raise UnknownToolError(_failed(named, error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the module is somebody's: it may raise anything
        raise UnknownToolError(_failed(named, error)) from None


def _look_in(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _failed(named: str, error: BaseException, file: str | None = None) -> str:
    if isinstance(error, SyntaxError):
        # Python names neither file nor line of a source that holds NUL bytes.
        where = error.filename or file or named
        place, reason = (f"{where}:{error.lineno}" if error.lineno else where), error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename == file] or [
            frame for frame in frames if "importlib" not in frame.filename and frame.filename != __file__
        ]
        place, reason = (f"{own[-1].filename}:{own[-1].lineno}" if own else named), str(error)
    said = " ".join(reason.split())
    return bounded(f"{named} cannot be imported: {place}: {type(error).__name__}: {said}")
