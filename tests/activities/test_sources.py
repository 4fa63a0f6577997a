from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perdure.activities.sources import load_source
from perdure.contracts.errors import UnknownToolError


def written(folder: Path, text: str, name: str = "tools.py") -> str:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def refusal(source: str) -> str:
    with pytest.raises(UnknownToolError) as raised:
        load_source(source, f"{source}:run")
    said = str(raised.value)
    assert "\n" not in said
    assert "Traceback" not in said
    assert said.startswith(f"Tool path '{source}:run'")
    return said


def test_a_file_is_imported_once(tmp_path: Path) -> None:
    path = written(tmp_path, "made = object()\n")

    assert load_source(path, path).made is load_source(path, path).made


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, two = written(tmp_path, "number = 1\n"), written(tmp_path / "other", "number = 2\n")

    assert (load_source(one, one).number, load_source(two, two).number) == (1, 2)


def test_a_file_can_import_its_neighbour_and_define_dataclasses(tmp_path: Path) -> None:
    written(tmp_path, "answer = 42\n", "neighbour_of_the_tools.py")
    path = written(
        tmp_path,
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import neighbour_of_the_tools\n"
        "@dataclass\nclass Point:\n    x: int\n"
        "answer = neighbour_of_the_tools.answer\n",
    )

    assert load_source(path, path).answer == 42


def test_an_installed_module_is_found_by_its_dotted_name() -> None:
    assert load_source("json.decoder", "json.decoder:x") is sys.modules["json.decoder"]


def test_a_file_with_nul_bytes_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "def run(): ...\0\n")

    assert f"cannot be imported: {path}" in refusal(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert f"there is no file {tmp_path / 'none.py'}." in refusal(str(tmp_path / "none.py"))


@pytest.mark.parametrize(
    ("module", "missing"), [("no_such_module_x", "no_such_module_x"), ("json.no_such", "json.no_such")]
)
def test_a_module_that_is_not_there_is_named(module: str, missing: str) -> None:
    assert f"there is no module {missing!r}" in refusal(module)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x = 1\nraise RuntimeError('two\\nlines')\n", 2, "RuntimeError: two lines"),
        ("import json\n\nimport no_such_module_x\n", 3, "ModuleNotFoundError: No module named 'no_such_module_x'"),
        ("x = 1\n\ndef broken(:\n    pass\n", 3, "SyntaxError: "),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("class Stop(BaseException): ...\nraise Stop(3)\n", 2, "Stop: 3"),
        ("import json\njson.loads('{')\n", 2, "JSONDecodeError: "),
    ],
)
def test_a_file_that_fails_is_told_in_one_line_with_file_line_and_exception(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    path = written(tmp_path, text)

    assert f"cannot be imported: {path}:{line}: {reason}" in refusal(path)


def test_a_module_whose_own_import_fails_is_not_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "import no_such_module_x\n", "failing_tools_module.py")
    monkeypatch.syspath_prepend(tmp_path)

    said = refusal("failing_tools_module")

    assert f"{tmp_path / 'failing_tools_module.py'}:1: ModuleNotFoundError" in said


def test_a_file_that_failed_can_be_mended_and_loaded(tmp_path: Path) -> None:
    path = written(tmp_path, "raise ValueError\n")
    refusal(path)
    written(tmp_path, "mended = True\n")

    assert load_source(path, path).mended
