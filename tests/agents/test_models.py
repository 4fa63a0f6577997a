from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.agents.files import parse_agent
from perdure.agents.freeze import freeze
from perdure.agents.models import NamedModels, layered
from perdure.contracts.activities import AgentQuery
from perdure.contracts.agent import AgentSpec

WORKER = NamedModels("w:1", ("w:2",), {"compression": "w:3"})


def models(worker: NamedModels = WORKER, spec: AgentSpec | None = None, **query: Any) -> NamedModels:
    return layered(worker, spec or AgentSpec(), AgentQuery(run_id="r", agent="x", **query))


def test_the_worker_counts_where_nobody_says_anything() -> None:
    assert models() == WORKER


def test_the_start_counts_before_the_agent_and_the_agent_before_the_worker() -> None:
    spec = AgentSpec(model="a:1", fallbacks=("a:2",), models={"compression": "a:3"})
    assert models(spec=spec) == NamedModels("a:1", ("a:2",), {"compression": "a:3"})
    wished = models(spec=spec, model="s:1", fallbacks=("s:2", "s:3"), models={"compression": "s:4"})
    assert wished == NamedModels("s:1", ("s:2", "s:3"), {"compression": "s:4"})


def test_purposes_are_laid_over_each_other_one_by_one() -> None:
    found = models(spec=AgentSpec(models={"subagent": "a:1"}), models={"compression": "s:1"})
    assert found.purposes == {"compression": "s:1", "subagent": "a:1"}


def test_empty_fallbacks_are_none_and_not_left_to_anybody() -> None:
    assert models(spec=AgentSpec(fallbacks=())).fallbacks == ()
    assert models(spec=AgentSpec(fallbacks=("a:2",)), fallbacks=()).fallbacks == ()


@pytest.mark.parametrize(
    ("spec", "query", "fallbacks"),
    [
        (AgentSpec(), {"model": "s:1"}, ()),
        (AgentSpec(), {"model": "w:1"}, ("w:2",)),
        (AgentSpec(model="a:1"), {}, ()),
        (AgentSpec(model="a:1", fallbacks=("a:2",)), {"model": "s:1"}, ()),
        (AgentSpec(model="a:1", fallbacks=("a:2",)), {"model": "a:1"}, ("a:2",)),
        (AgentSpec(model="a:1", fallbacks=("a:2",)), {"model": "w:1"}, ("w:2",)),
        (AgentSpec(fallbacks=("a:2",)), {"model": "s:1"}, ("a:2",)),
        (AgentSpec(model="a:1"), {"fallbacks": ("s:2",)}, ("s:2",)),
    ],
)
def test_fallbacks_belong_to_the_model_that_they_were_named_for(
    spec: AgentSpec, query: dict[str, Any], fallbacks: tuple[str, ...]
) -> None:
    assert models(spec=spec, **query).fallbacks == fallbacks


def test_a_model_is_no_fallback_of_itself() -> None:
    assert models(model="w:2", fallbacks=("w:2", "s:1")).fallbacks == ("s:1",)


def test_all_models_are_listed_once() -> None:
    assert NamedModels("a:1", ("a:2", "a:1"), {"subagent": "a:2", "compression": "a:3"}).all == ("a:1", "a:2", "a:3")


def test_a_frozen_agent_knows_the_model_for_each_purpose() -> None:
    frozen = freeze(AgentSpec(models={"compression": "a:3"}), (), "a:1", fallbacks=("a:2", "a:1", "a:2"))
    assert frozen.fallbacks == ("a:2",)
    assert (frozen.model_for("compression"), frozen.model_for("subagent")) == ("a:3", "a:1")


def test_the_example_of_the_manual_is_an_agent() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "fallbacks.md").read_text(encoding="utf-8")
    agent = parse_agent(Path("clerk.md"), manual.partition("```markdown\n")[2].partition("```")[0])
    assert agent.warnings == ()
    assert agent.spec.fallbacks == ("openai:gpt-5-mini", "ollama:qwen3")
    assert agent.spec.models == {"compression": "openai:gpt-5-nano"}
