"""The source as the tests of the house read it."""

from __future__ import annotations

import ast
import os
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "perdure"
TESTS = ROOT / "tests"
DOORS = ("activities", "context", "providers", "workflows")


def python_files(*folders: Path) -> list[Path]:
    """Every Python file below these folders, in order."""
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def shown(file: Path, line: int | None = None) -> str:
    """A place in the source, as messages name it."""
    path = file.relative_to(ROOT).as_posix()
    return path if line is None else f"{path}:{line}"


def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def imported(file: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports by an absolute name, with the line."""
    for node in ast.walk(parsed(file)):
        match node:
            case ast.Import(names=names):
                yield from ((name.name, node.lineno) for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module, node.lineno


def comments(file: Path) -> Iterator[tuple[str, int]]:
    """Every comment of a file, with its line."""
    with tokenize.open(file) as source:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT:
                yield token.string, token.start[0]


def plain_environment() -> dict[str, str]:
    """The environment without what `make` and pytest hand down to their children."""
    handed_down = ("MAKE", "MFLAGS", "PYTEST_", "PYTHON", "TASK", "WORKSPACE", "ARGS", "COV_")
    return {name: value for name, value in os.environ.items() if not name.startswith(handed_down)}
