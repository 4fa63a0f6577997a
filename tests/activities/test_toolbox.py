from __future__ import annotations

from pathlib import Path

import pytest

from perdure.activities.builtin import builtin_tools
from perdure.activities.functions import tool_from
from perdure.activities.toolbox import Toolbox, load_tools
from perdure.contracts.errors import UnknownToolError

DECORATED = """
from perdure import tool
from os.path import join

@tool(effect="read", name="search")
def _search(word: str) -> str:
    return word

@tool
def fetch(word: str) -> str:
    return word

def assist(word: str) -> str:
    return word
"""

PLAIN = """
from os.path import join

def one(a: int) -> int:
    return a

async def two(a: int) -> int:
    return a

def _hidden(a: int) -> int:
    return a

class Three:
    pass

four = 4
"""


@pytest.fixture
def decorated(tmp_path: Path) -> Path:
    (tmp_path / "decorated.py").write_text(DECORATED, encoding="utf-8")
    return tmp_path / "decorated.py"


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    (tmp_path / "plain.py").write_text(PLAIN, encoding="utf-8")
    return tmp_path / "plain.py"


def refusal(*paths: str) -> str:
    with pytest.raises(UnknownToolError) as raised:
        load_tools(paths)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_file_with_declared_tools_gives_those_alone(decorated: Path) -> None:
    assert load_tools([str(decorated)]).names == ("search", "fetch")


def test_a_file_without_declared_tools_gives_every_public_function_that_it_defines(plain: Path) -> None:
    assert load_tools([str(plain)]).names == ("one", "two")


def test_one_function_can_be_named_in_a_file_and_in_a_module(decorated: Path) -> None:
    box = load_tools([f"{decorated}:assist", "textwrap:dedent"])

    assert box.names == ("assist", "dedent")


def test_built_in_tools_come_first_and_every_spec_is_told(plain: Path) -> None:
    box = load_tools([str(plain)], builtin=builtin_tools())

    assert box.names == (
        "read_file",
        "write_file",
        "list_dir",
        "execute_command",
        "fetch_url",
        "ask_human",
        "one",
        "two",
    )
    assert tuple(spec.name for spec in box.specs) == box.names
    assert len(box) == 8


def test_a_tool_is_found_by_its_name(plain: Path) -> None:
    box = load_tools([str(plain)])

    one = box.get("one")
    assert one is not None
    assert one.function(3) == 3
    assert box.get("three") is None


def test_the_same_function_twice_is_one_tool(plain: Path) -> None:
    assert load_tools([str(plain), f"{plain}:one"]).names == ("one", "two")


def test_two_tools_of_one_name_are_refused_with_both_places(plain: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("def one(b: str) -> str:\n    return b\n", encoding="utf-8")

    said = refusal(str(plain), str(other))

    assert "'one'" in said
    assert f"{plain}:4" in said
    assert f"{other}:1" in said


def test_a_tool_cannot_take_the_name_of_a_built_in_one() -> None:
    def read_file(path: str) -> str:
        return path

    with pytest.raises(UnknownToolError, match="Two tools are named 'read_file'"):
        Toolbox([*builtin_tools(), tool_from(read_file)])


def test_a_misspelt_function_is_answered_with_the_near_one(decorated: Path) -> None:
    assert refusal(f"{decorated}:asist").endswith("has no function 'asist'. Did you mean 'assist'?")


def test_an_unknown_function_is_answered_with_what_there_is(plain: Path) -> None:
    assert refusal(f"{plain}:zzz").endswith("has no function 'zzz'. It defines: one, two.")


def test_what_is_no_function_is_refused(plain: Path) -> None:
    assert "'four' is no function but a int" in refusal(f"{plain}:four")
    assert "'Three' is no function but a type" in refusal(f"{plain}:Three")


def test_a_file_without_functions_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n", encoding="utf-8")

    assert "defines no public function" in refusal(str(empty))


@pytest.mark.parametrize("path", ["", "tools", ":run", "module:", "a b"])
def test_what_is_no_path_is_answered_with_the_three_forms(path: str) -> None:
    assert "write module:function, path/to/file.py:function or path/to/file.py" in refusal(path)
