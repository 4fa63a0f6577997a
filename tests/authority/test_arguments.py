from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from perdure.authority.arguments import arguments_verdict, is_truncated
from perdure.contracts.fitting import MAX_VIOLATIONS
from perdure.contracts.tools import ToolSpec
from tests.authority.calls import calls, says

TOOL = ToolSpec(
    name="write_note",
    parameters={
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "tags": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "when": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["title"],
        "additionalProperties": False,
    },
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def fault(text: str) -> str:
    verdict = arguments_verdict(says("write_note", text), TOOL)
    assert verdict is not None
    assert (verdict.decision, verdict.rule) == ("deny", "arguments")
    return verdict.reason


def unfit(**arguments: JsonValue) -> str:
    verdict = arguments_verdict(calls("write_note", **arguments), TOOL)
    return verdict.reason if verdict else ""


def test_arguments_that_fit_are_no_fault() -> None:
    assert unfit(title="a", tags=[{"name": "x"}], when=None) == ""


@given(st.dictionaries(st.text(), json_values, min_size=1, max_size=3), st.booleans(), st.data())
def test_every_beginning_of_an_object_is_seen_to_be_cut_off(
    value: dict[str, JsonValue], escaped: bool, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert not is_truncated(text)
    end = data.draw(st.integers(1, len(text) - 1))
    assert is_truncated(text[:end]), text[:end]


@pytest.mark.parametrize(
    "text",
    [
        "{title: 1}",
        "{'title': 'a'}",
        '{"title": "a",}',
        '{"title": "a"]',
        '{"title": "a"} and so on',
        '```json\n{"title": "a"}\n```',
        "title=a",
        '{"title": "\\q"}',
        '{"title": fal]',
        "",
    ],
)
def test_malformed_arguments_are_not_said_to_be_cut_off(text: str) -> None:
    assert not is_truncated(text)
    assert "are not JSON" in fault(text)


def test_cut_off_arguments_are_told_with_the_place() -> None:
    reason = fault('{"title": "a", "text": "It was a dark')
    assert "are cut off: the JSON ends after 37 characters" in reason
    assert 'It was a dark"' in reason
    assert "did not run" in reason


def test_malformed_arguments_are_told_with_line_and_column() -> None:
    assert "(line 2, column 3, near" in fault('{"a": 1\n  "b": 2}')


@pytest.mark.parametrize(
    ("text", "kind"),
    [("[1]", "array"), ('"a"', "string"), ("1.5", "number"), ("true", "boolean"), ("null", "null")],
)
def test_json_that_is_no_object_is_told_as_what_it_is(text: str, kind: str) -> None:
    assert f"are a JSON {kind}. Send a JSON object" in fault(text)


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": ' + "1" * 5_000 + "}", "[" * 100_000])
def test_json_that_no_reader_takes_is_a_fault_and_no_crash(text: str) -> None:
    assert len(fault(text)) < 500


def test_a_violation_is_told_with_its_place_what_it_is_and_what_is_expected() -> None:
    reason = unfit(title="a", tags=[{"name": "x"}, {"name": 5}])
    assert '- $.tags[1].name: is 5, expected {"type": "string"}' in reason


def test_missing_and_unknown_names_are_told_by_name() -> None:
    reason = unfit(tilte="a")
    assert "- $.title: is missing" in reason
    assert "- $.tilte: is unknown; known names: title, tags, when" in reason


def test_alternatives_are_told_whole() -> None:
    assert '- $.when: is "noon", expected {"anyOf": [{"type": "integer"}, {"type": "null"}]}' in unfit(
        title="a", when="noon"
    )


def test_many_violations_are_bounded() -> None:
    reason = unfit(title="a", tags=[{"name": number} for number in range(MAX_VIOLATIONS + 3)])
    assert reason.count("\n- $") == MAX_VIOLATIONS
    assert reason.endswith("- and 3 more")


def test_a_huge_wrong_value_is_cut() -> None:
    assert len(unfit(title="a", when="x" * 1_000_000)) < 500


def test_an_older_schema_is_read_by_its_own_rules() -> None:
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}
    tool = ToolSpec(name="write_note", parameters={"type": "object", "properties": {"a": draft7}})
    old = tool.model_copy(
        update={"parameters": {**tool.parameters, "$schema": "http://json-schema.org/draft-07/schema#"}}
    )
    assert arguments_verdict(calls("write_note", a=["x"]), old) is not None


def test_a_schema_may_refer_to_its_own_definitions() -> None:
    tool = ToolSpec(
        name="write_note",
        parameters={
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/count"}},
            "$defs": {"count": {"type": "integer"}},
        },
    )
    verdict = arguments_verdict(calls("write_note", a="x"), tool)
    assert verdict is not None
    assert '- $.a: is "x", expected {"type": "integer"}' in verdict.reason


def test_a_schema_that_refers_elsewhere_is_never_fetched() -> None:
    tool = ToolSpec(name="write_note", parameters={"properties": {"a": {"$ref": "https://example.invalid/a.json"}}})
    with pytest.raises(Exception, match="Unresolvable"):
        arguments_verdict(calls("write_note", a="x"), tool)
