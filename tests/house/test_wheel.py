from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.house.source import PACKAGE, ROOT, imported, plain_environment, python_files, shown

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# What a dependency always brings along because its own interface speaks of it.
BROUGHT_BY = {
    "google": "temporalio",
    "pydantic_core": "pydantic",
    "referencing": "jsonschema",
}
WALK = """
import importlib, pkgutil, perdure
names = [found.name for found in pkgutil.walk_packages(perdure.__path__, "perdure.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(perdure.__file__)
print(*names, sep="\\n")
"""


@dataclass(frozen=True, slots=True)
class Built:
    sdist: Path
    wheel_of_the_sdist: Path
    wheel_of_the_tree: Path


def run(*command: str | Path, folder: Path) -> str:
    ended = subprocess.run(command, cwd=folder, env=plain_environment(), capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """What a release would upload, and the wheel that an installation from the tree would make."""
    both, alone = tmp_path_factory.mktemp("both"), tmp_path_factory.mktemp("alone")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", both, ROOT, folder=both)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", alone, ROOT, folder=alone)
    (sdist,), (wheel,), (other) = both.glob("*.tar.gz"), both.glob("*.whl"), *alone.glob("*.whl")
    return Built(sdist=sdist, wheel_of_the_sdist=wheel, wheel_of_the_tree=other)


def source_files() -> list[str]:
    return sorted(shown(path) for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def wheel_files(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package_once_and_nothing_else(built: Built) -> None:
    assert wheel_files(built.wheel_of_the_tree) == source_files()
    assert wheel_files(built.wheel_of_the_sdist) == source_files()


@pytest.mark.slow
def test_the_sdist_holds_every_file_of_the_package_once(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = [member.name.partition("/")[2] for member in archive.getmembers() if not member.isdir()]

    assert [name for name, times in Counter(names).items() if times > 1] == []
    assert sorted(name for name in names if name.startswith("perdure/")) == source_files()
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= set(names)


@pytest.mark.slow
def test_the_installed_wheel_imports_without_the_source(built: Built, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=tmp_path).strip())
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "--quiet")
    run(*pip, "install", "--no-index", "--no-deps", built.wheel_of_the_sdist, folder=tmp_path)
    # Lends the dependencies of this environment but not its link to the source, which is a .pth file of its own.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    where, *names = run(python, "-I", "-W", "error::ImportWarning", "-c", WALK, folder=tmp_path).splitlines()

    assert Path(where) == site / "perdure" / "__init__.py"
    assert sorted(names) == sorted(
        ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")
        for file in source_files()
        if file.endswith(".py") and file != "perdure/__init__.py"
    )


def test_every_package_that_is_imported_is_a_declared_dependency() -> None:
    declared = {normal(re.split(r"[<>=!~;\[ ]", line)[0]) for line in PROJECT["dependencies"]}
    providers = packages_distributions()
    undeclared = [
        f"{shown(file, line)} {name}"
        for file in python_files(PACKAGE)
        for name, line in imported(file)
        if (top := name.split(".")[0]) not in {"perdure", *sys.stdlib_module_names}
        if not (top == "pytest" and shown(file).startswith("perdure/testing/"))
        if declared.isdisjoint(
            normal(provider) for provider in (top, BROUGHT_BY.get(top, top), *providers.get(top, ()))
        )
    ]

    assert undeclared == []


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
