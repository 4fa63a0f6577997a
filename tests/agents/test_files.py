from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.agents.files import MOST_BYTES, AgentFile, Problem, examine, read_agent
from perdure.contracts.agent import AgentSpec, ApprovalRule, ArgumentRule, Limits, ToolPolicy, Waiting
from perdure.contracts.errors import AgentFileError

WHOLE = """---
name: reviewer
description: Reads changes and says what is wrong.
model: openai:gpt-5
tools: [read_file, list_dir]
policy:
  write_file: always_ask
  execute_command: deny
limits:
  steps: 12
  feedback_rounds: 1
---
You review.
"""

RULES = """---
policy:
  write_file: ask
  execute_command:
    - when: {command: {prefix: "git status"}}
      then: allow
    - then: always_ask
      approvers: [ada, bob]
      needed: 2
  publish: {resolver: "house:may_publish", not_starter: true}
  "mail__*": deny
waiting: {deadline: 2h, default: approve, remind: 30m}
---
You work.
"""
WORDS = "'allow', 'ask', 'always_ask' or 'deny'"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "anna.md"


def refusal(file: Path, text: str | bytes) -> str:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(AgentFileError) as raised:
        read_agent(file)
    assert "\n" not in str(raised.value)
    return str(raised.value).removeprefix(str(file))


def test_every_key_of_a_file_reaches_the_agent(file: Path) -> None:
    file.write_text(WHOLE)

    agent = read_agent(file)

    assert agent.spec == AgentSpec(
        name="reviewer",
        description="Reads changes and says what is wrong.",
        prompt="You review.",
        model="openai:gpt-5",
        tools=("read_file", "list_dir"),
        policy=(
            ToolPolicy(tool="write_file", word="always_ask"),
            ToolPolicy(tool="execute_command", word="deny"),
        ),
        limits=Limits(steps=12, feedback_rounds=1),
    )
    assert agent.warnings == ()


def test_rules_and_waiting_are_read_in_their_order(file: Path) -> None:
    file.write_text(RULES)

    spec = read_agent(file).spec

    assert spec.policy == (
        ToolPolicy(tool="write_file", word="ask"),
        ToolPolicy(
            tool="execute_command",
            word="allow",
            when=(ArgumentRule(argument="command", match="prefix", value="git status"),),
        ),
        ToolPolicy(
            tool="execute_command", word="always_ask", approval=ApprovalRule(approvers=("ada", "bob"), needed=2)
        ),
        ToolPolicy(tool="publish", resolver="house:may_publish", approval=ApprovalRule(not_starter=True)),
        ToolPolicy(tool="mail__*", word="deny"),
    )
    assert spec.waiting == Waiting(deadline=timedelta(hours=2), default="approve", remind=timedelta(minutes=30))


def test_an_agent_without_a_name_is_named_after_its_file(file: Path) -> None:
    file.write_text("You are helpful.")

    assert read_agent(file).spec == AgentSpec(name="anna", prompt="You are helpful.")


def test_no_tools_and_all_tools_are_told_apart(file: Path) -> None:
    file.write_text("---\ntools: []\n---\nHej.")
    none = read_agent(file).spec.tools
    file.write_text("---\ndescription: x\n---\nHej.")

    assert (none, read_agent(file).spec.tools) == ((), None)


def test_a_byte_order_mark_is_passed_over(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf---\nname: x\n---\nHej.")

    assert read_agent(file).spec == AgentSpec(name="x", prompt="Hej.")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("polcy: {write_file: deny}", ":2:1: The key 'polcy' is unknown: did you mean 'policy'?"),
        ("tool: [read_file]", ":2:1: The key 'tool' is unknown: did you mean 'tools'?"),
        ("waiting: {deadlin: 2h}", ":2:11: The key 'waiting.deadlin' is unknown: did you mean 'deadline'?"),
        (
            "tools: []\nlimits:\n  stepps: 3\n  steps: 4",
            ":4:3: The key 'limits.stepps' is unknown: did you mean 'steps'?",
        ),
        (
            "hosted: [{tool: web_search, max_use: 3}]",
            ":2:29: The key 'hosted.0.max_use' is unknown: did you mean 'max_uses'?",
        ),
        ("polcy: {}\ntool: []", ":2:1: The key 'polcy' is unknown (1 more to mend): did you mean 'policy'?"),
        ("zzz: 1", ":2:1: The key 'zzz' is unknown: known are name, description, model, fallbacks, models, tools,"),
        ("limits: {x-steps: 1}", ":2:10: The key 'limits.x-steps' is unknown: did you mean 'steps'?"),
    ],
)
def test_an_unknown_key_is_an_error_with_its_place_and_the_name_that_it_is_near_to(
    file: Path, head: str, said: str
) -> None:
    assert refusal(file, f"---\n{head}\n---\nHej.").startswith(said)


def test_keys_of_people_s_own_are_passed_over(file: Path) -> None:
    file.write_text("---\nx-owner: ada\nx-limits: {stepps: 3}\n---\nHej.")

    assert read_agent(file) == AgentFile(file, AgentSpec(name="anna", prompt="Hej."))


@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff", "---\n---\n"])
def test_a_file_that_says_nothing_is_no_agent(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(AgentFileError, match="1:1: The file says nothing: write a prompt"):
        read_agent(file)


def test_an_agent_without_a_prompt_is_a_warning(file: Path) -> None:
    file.write_text("---\nname: x\n---\n")

    (warning,) = read_agent(file).warnings
    assert str(warning) == f"{file}:3:1: The agent has no prompt: write it below the head."


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("name: 3", ":2:7: name should be a valid string."),
        ("name: true", ":2:7: name should be a valid string."),
        ('name: "a\\nb"', ":2:7: name should be one line without blanks around it."),
        ("name: ''", ":2:7: name "),
        ("description: [a]", ":2:14: description should be a valid string."),
        ("model: gpt-5", ":2:8: model should be written provider:model, as in openai:gpt-5."),
        ("tools: read_file", ":2:8: tools should be a list, as in [read_file, list_dir]."),
        ("tools:", ":2:7: tools is empty: write `tools: []` for none, or leave it out for all."),
        ("tools:\n  - read_file\n  - 3", ":4:5: tools.1 should be a valid string."),
        ("policy: deny", ":2:9: policy should be lines of `key: value`."),
        ("policy:\n  write_file: never", f":3:15: policy.write_file should be {WORDS}, or a list of rules."),
        ("policy:\n  write_file: off", f":3:15: policy.write_file should be {WORDS}, or a list of rules."),
        ("policy:\n  write_file: []", f":3:15: policy.write_file should be {WORDS}, or a list of rules."),
        (
            "policy:\n  run:\n    - when: {a: b}\n      than: allow",
            ":5:7: policy.run.0.than is unknown: did you mean 'then'?",
        ),
        ("policy:\n  run:\n    - then: allow\n    - then: nope", f":5:13: policy.run.1.then should be {WORDS}."),
        (
            "policy:\n  run:\n    - when: {a: {regex: '('}}\n      then: deny",
            ":4:25: policy.run.0.when.a.regex should be a",
        ),
        (
            "policy:\n  run: {then: ask, approvers: [ada], needed: 2}",
            ":3:46: policy.run.needed needs 2 people and names 1.",
        ),
        ("waiting: 2h", ":2:10: waiting should be lines of `key: value`."),
        ("waiting: {deadline: soon}", ":2:21: waiting.deadline should be a duration such as 30s, 5m, 2h or 1d."),
        ("waiting: {deadline: 2:30}", ":2:21: waiting.deadline should be a duration such as 30s, 5m, 2h or 1d."),
        ("waiting: {deadline: 0s}", ":2:21: waiting.deadline should be a duration such as 30s, 5m, 2h or 1d."),
        ("waiting: {deadline: 1h, remind: 1h}", ":2:33: waiting.remind should be shorter than waiting.deadline."),
        ("waiting: {remind: 1h}", ":2:19: waiting.remind should be shorter than waiting.deadline."),
        ("waiting: {default: approve}", ":2:20: waiting.default says what holds after waiting.deadline."),
        ("waiting: {deadline: 1h, default: allow}", ":2:34: waiting.default should be 'deny' or 'approve'."),
        ("limits: 3", ":2:9: limits should be lines of `key: value`."),
        ("limits:\n  steps: many", ":3:10: limits.steps should be a valid integer."),
        ("limits:\n  steps: 0", ":3:10: limits.steps should be greater than or equal to 1."),
        ("limits: {steps: x, feedback_rounds: x}", ":2:17: limits.steps should be a valid integer (1 more to mend)."),
        ("name: [", ":3:1: This is no valid YAML: "),
    ],
)
def test_a_mistake_is_told_with_file_line_and_column(file: Path, head: str, said: str) -> None:
    assert refusal(file, f"---\n{head}\n---\nHej.").startswith(said)


def test_a_file_in_another_encoding_is_told_with_its_place(file: Path) -> None:
    assert refusal(file, b"---\nname: x\n---\ngr\xfcn") == ":4:3: This is not UTF-8: save the file as UTF-8."


def test_a_file_whose_name_is_no_name_of_an_agent_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "two\nlines.md"
    file.write_text("Hej.")
    with pytest.raises(AgentFileError, match=r"lines\.md:1:1: name should be one line without blanks around it\."):
        read_agent(file)


def test_a_file_that_is_no_agent_by_its_size_is_refused(file: Path) -> None:
    assert "at most" in refusal(file, "x" * (MOST_BYTES + 1))


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(AgentFileError, match=r"none\.md:1:1: The file cannot be read: no such file or directory\."):
        read_agent(tmp_path / "none.md")


def test_a_file_can_be_examined_without_an_exception(file: Path) -> None:
    file.write_text("---\nname: 3\n---\n")

    assert examine(file) == Problem("anna", file, 2, 7, "name should be a valid string.")


def test_a_file_that_cannot_be_used_keeps_the_name_that_it_gives(file: Path) -> None:
    file.write_text("---\nname: clerk\npolcy: {}\n---\nHej.")

    problem = examine(file)
    assert isinstance(problem, Problem)
    assert (problem.name, problem.severity) == ("clerk", "error")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("{type: objekt}", ":2:16: The output schema cannot be used at type: 'objekt' is no type"),
        ('{"$ref": "http://example.org/a"}', ":2:9: The output schema cannot be used: $ref may lead to parts"),
        ('{"$ref": "#"}', ":2:9: The output schema cannot be used: it refers to itself without end."),
    ],
)
def test_an_output_schema_that_no_answer_can_be_held_to_is_refused_with_its_place(
    file: Path, output: str, said: str
) -> None:
    assert refusal(file, f"---\noutput: {output}\n---\nHej.").startswith(said)


def test_a_pipe_that_nobody_writes_to_is_no_agent_file(file: Path) -> None:
    os.mkfifo(file)

    with pytest.raises(AgentFileError, match="The file cannot be read: not a regular file"):
        read_agent(file)


def test_fallbacks_and_models_by_purpose_reach_the_agent(file: Path) -> None:
    file.write_text("---\nmodel: a:1\nfallbacks: [a:2, b:3]\nmodels: {compression: a:4, subagent: a:5}\n---\nHej.")
    spec = read_agent(file).spec
    assert (spec.model, spec.fallbacks) == ("a:1", ("a:2", "b:3"))
    assert spec.models == {"compression": "a:4", "subagent": "a:5"}
    file.write_text("---\nfallbacks: []\n---\nHej.")
    assert read_agent(file).spec.fallbacks == ()
    file.write_text("Hej.")
    assert read_agent(file).spec.fallbacks is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fallbacks: a:2", ":2:12: fallbacks should be a list of models, as in [openai:gpt-5,"),
        ("fallbacks: [a:2, gpt]", ":2:18: fallbacks.1 should be written provider:model, as in openai:gpt-5."),
        ("models: {compression: gpt}", ":2:23: models.compression should be written provider:model"),
        ("models: {compresion: a:1}", "models.compresion is no purpose that a model can be named for: known are"),
        ("models: [a:1]", ":2:9: models should be lines of `key: value`."),
    ],
)
def test_a_model_that_is_named_wrongly_is_refused_with_its_place(file: Path, text: str, said: str) -> None:
    assert said in refusal(file, f"---\n{text}\n---\nHej.")


def test_the_output_of_an_agent_is_a_schema_in_its_head(file: Path) -> None:
    file.write_text("---\noutput:\n  type: object\n  required: [sum]\n---\nYou add up.\n")
    agent = read_agent(file)
    assert agent.warnings == ()
    assert agent.spec.output == {"type": "object", "required": ["sum"]}
