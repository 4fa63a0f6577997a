from __future__ import annotations

import ast
import re

from tests.house.source import PACKAGE, TESTS, comments, imported, parsed, python_files, shown

MOST_LINES = 300
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "impl", "types", "misc"}
ENDS_THE_PROCESS = {"exit", "quit", "sys.exit", "os._exit", "os.abort"}
MAY_END_IT = ("perdure/cli/", "perdure/testing/exits.py")
IGNORE = re.compile(r"#\s*(type:\s*ignore(\[[\w, -]+\])?|noqa(:\s*[A-Z]+\d+(,\s*[A-Z]+\d+)*)?|pragma:\s*no\s*\w+)")


def test_every_module_says_in_its_docstring_what_it_is() -> None:
    silent = [shown(file) for file in python_files(PACKAGE) if not (ast.get_docstring(parsed(file)) or "").strip()]

    assert silent == []


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    lengths = {shown(file): len(file.read_text(encoding="utf-8").splitlines()) for file in python_files(PACKAGE)}

    assert {file: lines for file, lines in lengths.items() if lines > MOST_LINES} == {}


def test_every_module_is_named_after_what_it_holds() -> None:
    names = {shown(path): path.stem for path in PACKAGE.rglob("*") if path.is_dir() or path.suffix == ".py"}

    assert [path for path, name in names.items() if name.strip("_").lower() in VAGUE] == []


def test_every_ignored_finding_has_its_reason_beside_it() -> None:
    bare = [
        f"{shown(file, line)} {comment}"
        for file in python_files(PACKAGE, TESTS)
        for comment, line in comments(file)
        if IGNORE.search(comment) and len(re.findall(r"[A-Za-z]{2,}", IGNORE.sub("", comment))) < 2
    ]

    assert bare == []


def test_only_the_command_line_and_programs_of_their_own_end_the_process() -> None:
    ending = [
        shown(file, node.lineno)
        for file in python_files(PACKAGE)
        if not shown(file).startswith(MAY_END_IT)
        for statement in parsed(file).body
        if not (isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'")
        for node in ast.walk(statement)
        if (isinstance(node, ast.Call) and ast.unparse(node.func) in ENDS_THE_PROCESS)
        or (isinstance(node, ast.Raise) and node.exc is not None and ast.unparse(node.exc).startswith("SystemExit"))
    ]

    assert ending == []


def test_no_test_patches_what_it_tests() -> None:
    patching = [
        shown(file, line)
        for file in python_files(TESTS)
        for name, line in imported(file)
        if name.split(".")[0] in {"unittest", "mock", "pytest_mock"}
    ]

    assert patching == []
