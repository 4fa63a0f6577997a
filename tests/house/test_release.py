from __future__ import annotations

import re
import tomllib

import perdure
from tests.house.source import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
RELEASES = re.findall(r"^## \[(.+?)\].*?\n(.*?)(?=^## |\Z)", CHANGELOG, flags=re.MULTILINE | re.DOTALL)


def test_the_package_and_the_project_name_one_version() -> None:
    assert perdure.__version__ == PROJECT["version"]


def test_every_release_says_whether_running_workflows_survive_it() -> None:
    answers = {name: re.search(r"^### Replay\n+\S", text, flags=re.MULTILINE) for name, text in RELEASES}

    assert answers
    assert [name for name, answer in answers.items() if answer is None] == []


def test_releases_stand_newest_first_and_hold_the_current_version_or_lead_to_it() -> None:
    names = [name for name, _ in RELEASES]
    versions = [tuple(map(int, name.split("."))) for name in names if name != "Unreleased"]

    assert "Unreleased" not in names[1:]
    assert versions == sorted(versions, reverse=True)
    assert "Unreleased" in names or PROJECT["version"] in names


def test_the_licence_is_whole() -> None:
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")

    assert PROJECT["license"] == "Apache-2.0"
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in licence
    assert "END OF TERMS AND CONDITIONS" in licence
