"""docs/agents.md tells of every key of an agent file, and its example has them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from perdure.agents.files import parse_agent
from perdure.contracts.agent import AgentSpec, Limits, Waiting
from perdure.contracts.tools import HostedTool
from tests.servers import ROOT

TEXT = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([\w.]+)` \|[^|]*\| ([^|]*) \|", TEXT, re.MULTILINE))
(EXAMPLE,) = re.findall(r"^```markdown\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
NESTED: dict[str, type[BaseModel]] = {"hosted": HostedTool, "waiting": Waiting, "limits": Limits}


def test_the_table_has_the_keys_of_the_code() -> None:
    inner = {f"{outer}.{key}" for outer, record in NESTED.items() for key in record.model_fields}

    assert set(ROWS) == {*AgentSpec.model_fields, *inner} - {"prompt"}


@pytest.mark.parametrize("outer", ["waiting", "limits"])
def test_the_table_has_the_defaults_of_the_code(outer: str) -> None:
    for key, field in NESTED[outer].model_fields.items():
        default = "never" if field.default is None else str(field.default)
        assert ROWS[f"{outer}.{key}"] == default


def test_the_example_has_every_key_and_is_an_agent_without_a_warning() -> None:
    agent = parse_agent(Path("reviewer.md"), EXAMPLE)

    assert agent.warnings == ()
    plain = AgentSpec()
    assert [key for key in AgentSpec.model_fields if getattr(agent.spec, key) == getattr(plain, key)] == []


def test_every_link_leads_to_a_section_that_is_there() -> None:
    for file, section in re.findall(r"\]\((\w[\w-]*\.md)(?:#([\w-]+))?\)", TEXT):
        text = (ROOT / "docs" / file).read_text(encoding="utf-8")
        titles = [title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
        assert not section or section in titles, (file, section)
