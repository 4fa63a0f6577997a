from __future__ import annotations

from perdure.authority.scope import MAX_LISTED, meant, unknown_verdict
from perdure.contracts.tools import ToolSpec

SEARCH = ToolSpec(name="notes__search")
OTHER = ToolSpec(name="mail__search")
LOCAL = ToolSpec(name="search")
NESTED = ToolSpec(name="lent__notes__search")


def test_the_very_name_is_meant_before_any_bare_one() -> None:
    assert meant("search", (SEARCH, OTHER, LOCAL), None) is LOCAL
    assert meant("notes__search", (SEARCH, NESTED), None) is SEARCH


def test_a_bare_name_is_meant_when_one_tool_has_it() -> None:
    assert meant("search", (SEARCH, ToolSpec(name="research")), None) is SEARCH
    assert meant("notes__search", (NESTED,), None) is NESTED


def test_a_bare_name_of_several_tools_means_none() -> None:
    assert meant("search", (SEARCH, OTHER), None) is None


def test_a_bare_name_of_several_tools_means_the_one_in_scope() -> None:
    assert meant("search", (SEARCH, OTHER), ("mail__search",)) is OTHER


def test_half_a_name_and_no_name_mean_nothing() -> None:
    assert meant("arch", (SEARCH,), None) is None
    assert meant("", (SEARCH,), None) is None


def test_a_name_that_several_tools_share_is_told_with_the_full_names() -> None:
    reason = unknown_verdict("search", (SEARCH, OTHER), None).reason
    assert reason == '"search" can mean several tools: notes__search, mail__search. Use the full name.'


def test_the_list_of_declared_tools_is_bounded_and_keeps_to_the_scope() -> None:
    tools = tuple(ToolSpec(name=f"tool_{number:03}") for number in range(MAX_LISTED + 10))
    assert unknown_verdict("x", tools, None).reason.endswith("tool_039 and 10 more.")
    assert unknown_verdict("x", tools, ("tool_007",)).reason == 'There is no tool "x". Declared tools: tool_007.'


def test_an_endless_name_is_cut() -> None:
    assert len(unknown_verdict("x" * 100_000, (SEARCH,), None).reason) < 300


def test_an_agent_without_tools_is_told_to_answer_without() -> None:
    assert unknown_verdict("x", (), None).reason.endswith("This agent may call no tools: answer without them.")
