from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from perdure.providers.gate import Gate
from perdure.testing.script import asks, fails, held, save, says, script, together
from tests.cli.conftest import AtTerminal, Play
from tests.cli.programs import Home
from tests.servers import unique

TOOLS = '''
def greet(name: str) -> str:
    """Greet somebody.

    Args:
        name: Who is greeted.
    """
    return f"Hello, {name}!"
'''


def failed(ended: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """The program ended with this code and one line that holds these words, behind what it said while it waited."""
    assert ended.returncode == code, ended
    *progress, error = ended.stderr.splitlines()
    assert all(line.endswith(" …") for line in progress), ended
    assert error.startswith("error: "), ended
    for word in words:
        assert word in error


def test_a_run_shows_its_model_its_text_and_where_it_stands(home: Home, play: Play) -> None:
    (home.path / "tools.py").write_text(TOOLS)
    model = play(together(says("I ", "greet."), asks("greet", name="Ana")), says("She was ", "greeted."))
    run_id = unique("run")

    ended = home.run(
        *("run", "Greet Ana", "--model", model, "--tools", "tools.py", "--yes", "--run-id", run_id),
        PERDURE_UI_URL="http://ui.example.org",
    )

    assert ended.returncode == 0, ended
    lines = ended.stdout.splitlines()
    assert lines[0] == f"model {model} (named with --model)"
    assert lines[1].endswith("> Greet Ana")
    assert lines[2:] == [
        f"agent assistant, model {model}",
        "I greet.",
        '  call    t1s1c1 greet {"name": "Ana"}',
        *(line for line in lines if line.startswith("  asks    t1s1c1 greet waits for approval")),
        *(line for line in lines if line.startswith("  (approval of t1s1c1") and line.endswith(": --yes)")),
        "  done    t1s1c1 greet: Hello, Ana!",
        "She was greeted.",
        "turn 1 completed - 30 tokens (20 in, 10 out), $0.00",
        f"run  {run_id} completed",
        f"ui   http://ui.example.org/namespaces/default/workflows/{run_id}",
    ]
    assert f"run {run_id}" in ended.stderr


def test_events_as_json_are_all_that_goes_to_the_output(home: Home, play: Play) -> None:
    ended = home.run("run", "Hello", "--model", play(says("Hello.")), "--json", PERDURE_UI_URL="http://ui.example.org")

    events = [json.loads(line) for line in ended.stdout.splitlines()]
    durable = [event["kind"] for event in events if event["position"]]
    assert ended.returncode == 0
    assert durable[0] == "message_received"
    assert durable[-1] == "run_closed"
    assert events[-1]["output"] == "Hello."
    assert "http://ui.example.org/namespaces/default/workflows/" in ended.stderr


def test_the_task_can_come_through_a_pipe(home: Home, play: Play) -> None:
    ended = home.run("run", "-", "--model", play(says("Read.")), text="What is this?\n")

    assert ended.returncode == 0
    assert "> What is this?" in ended.stdout


def test_a_failed_attempt_is_seen_and_the_run_goes_on(at_terminal: AtTerminal, play: Play, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    terminal = at_terminal(
        "run", "Hello", "--model", play(fails("overloaded"), held(says("Hello."), gate.path, after=1))
    )

    terminal.until("attempt 2 follows")
    gate.open()
    terminal.until("\nHello.\n")

    assert terminal.wait() == 0


def test_a_run_that_fails_says_why_and_exits_with_1(home: Home, play: Play) -> None:
    ended = home.run("run", "Hello", "--model", play(fails("authentication", detail="the key is not valid")))

    assert ended.returncode == 1
    assert re.search(r"^error: run [\w-]+ failed: scripted: the key is not valid", ended.stderr, re.MULTILINE)
    assert ended.stdout.count("the key is not valid") == 1
    assert "Traceback" not in ended.stderr + ended.stdout


def test_without_a_terminal_a_run_that_asks_is_left_with_4_and_how_to_approve(home: Home, play: Play) -> None:
    model = play(asks("write_file", path="out.txt", content="text"), says("Written."))
    run_id = unique("run")

    ended = home.run("run", "Write", "--model", model, "--run-id", run_id)

    assert ended.returncode == 4
    assert f"perdure approve {run_id} t1s1c1\n" in ended.stderr
    assert f"perdure follow {run_id} " in ended.stderr
    assert not (home.path / "out.txt").exists()


def test_yes_never_approves_what_a_safety_rule_asks(home: Home, play: Play) -> None:
    risky = asks("execute_command", command="sudo rm -rf build")
    model = play(together(asks("write_file", path="out.txt", content="text"), risky), says("Done."))

    ended = home.run("run", "Tidy", "--model", model, "--yes")

    assert ended.returncode == 4, ended
    assert (home.path / "out.txt").read_text() == "text"
    assert "t1s1c2 execute_command" in ended.stderr
    assert "[safety:" in ended.stderr


def test_with_no_human_nothing_waits(home: Home, play: Play) -> None:
    model = play(asks("write_file", path="out.txt", content="text"), says("I may not."))

    ended = home.run("run", "Write", "--model", model, "--no-human")

    assert ended.returncode == 0
    assert "  denied  t1s1c1 write_file" in ended.stdout
    assert not (home.path / "out.txt").exists()


def test_a_step_limit_ends_with_an_answer(home: Home, play: Play) -> None:
    ended = home.run("run", "Hello", "--model", play(says("Now.")), "--steps", "1")

    assert ended.returncode == 0
    assert "(last step: the model must answer now)" in ended.stdout


def test_a_conversation_rests_after_its_turn(home: Home, play: Play) -> None:
    run_id = unique("run")

    ended = home.run("run", "Hello", "--model", play(says("Hello.")), "--conversation", "--run-id", run_id)

    assert ended.returncode == 0
    assert f'perdure send {run_id} "…"' in ended.stderr


def test_an_agent_can_stand_in_a_file(home: Home, tmp_path: Path) -> None:
    model = save(script(says("Meow.")), tmp_path / "cat.json")
    (home.path / "cat.md").write_text(f"---\nmodel: {model}\ntools: []\n---\nYou are a cat.\n")

    ended = home.run("run", "Hello", "--agent", "cat.md")

    assert ended.returncode == 0, ended
    assert f"model {model} (named by the agent cat)" in ended.stdout
    assert "Meow." in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "words"),
    [
        ([""], {}, 2, ["The task is empty"]),
        (["  \n "], {}, 2, ["The task is empty"]),
        (["task", "--steps", "10001"], {}, 2, ["--steps", "1<=x<=10000"]),
        (["task", "--run-id", "x; rm"], {}, 2, ["--run-id", "letters, digits and . _ - / :"]),
        (["task", "--run-id", "x" * 201], {}, 2, ["--run-id", "up to 200"]),
        (["task", "--agent", "nobody"], {}, 2, ["'nobody'", "Known agents: assistant"]),
        (["task", "--agent", "missing.md"], {}, 2, ["missing.md"]),
        (["task", "--tools", "nowhere.py"], {}, 2, ["nowhere.py"]),
        (["task", "--tools", "json:nothing"], {}, 2, ["json", "nothing"]),
        (["task", "--model", "unheard:of"], {}, 2, ["unheard"]),
        (["task", "--model", "gpt"], {}, 2, ["provider:model"]),
        (["task", "--model", "openai:gpt-5-mini"], {}, 3, ["OPENAI_API_KEY"]),
        (["task", "--model", "demo:demo", "--fallback", "nope:x"], {}, 2, ["'nope'"]),
        (["task", "--model", "demo:demo", "--fallback", "nope"], {}, 2, ["provider:model"]),
        (["task", "--model", "demo:demo", "--fallback", "openai:x"], {}, 3, ["OPENAI_API_KEY"]),
        (["task", "--workspace", "/no/such/folder"], {}, 2, ["/no/such/folder"]),
        (["task"], {"PERDURE_STEP_LIMIT": "many"}, 2, ["PERDURE_STEP_LIMIT", "'many'"]),
        (["task"], {"PERDURE_ADDRESS": "nonsense"}, 2, ["PERDURE_ADDRESS"]),
    ],
)
def test_what_cannot_work_is_refused_before_anything_starts(
    home: Home, arguments: list[str], settings: dict[str, str], code: int, words: list[str]
) -> None:
    failed(home.run("run", *arguments, **settings), code, *words)


def test_an_agent_whose_tools_are_not_served_is_refused(home: Home) -> None:
    (home.path / "agents").mkdir()
    (home.path / "agents" / "smith.md").write_text("---\ntools: [hammer]\n---\nYou forge.\n")

    failed(home.run("run", "task", "--agent", "smith", "--model", "demo:demo"), 2, "hammer")


def test_an_agent_whose_models_cannot_be_used_is_refused(home: Home) -> None:
    (home.path / "agents").mkdir()
    for name, head in (
        ("smith", "model: demo:demo\nfallbacks: [nope:x]"),
        ("poet", "model: demo:demo\nmodels: {subagent: nope:x}"),
        ("seeker", "model: deepseek:deepseek-chat\nhosted: [{tool: web_search}]"),
    ):
        (home.path / "agents" / f"{name}.md").write_text(f"---\n{head}\n---\nYou work.\n")

    failed(home.run("run", "task", "--agent", "smith"), 2, "'nope'")
    failed(home.run("run", "task", "--agent", "poet"), 2, "'nope'")
    failed(home.run("run", "task", "--agent", "seeker", DEEPSEEK_API_KEY="x"), 2, "lacks web_search")


def test_a_server_that_does_not_answer_is_exit_code_3(home: Home) -> None:
    ended = home.run("run", "task", "--model", "demo:demo", PERDURE_ADDRESS="127.0.0.1:1")

    failed(ended, 3, "No Temporal server answers at 127.0.0.1:1")


def test_a_run_id_that_runs_already_is_refused_or_joined(home: Home, play: Play) -> None:
    model = play(asks("write_file", path="out.txt", content="text"), says("Written."))
    run = ("run", "Write", "--model", model, "--run-id", unique("run"))
    assert home.run(*run).returncode == 4

    refused = home.run(*run)
    joined = home.run(*run, "--join", "--yes")

    assert refused.returncode == 2
    assert "is running already" in refused.stderr
    assert joined.returncode == 0
    assert "Written." in joined.stdout


def test_files_go_with_the_task_and_the_output_fits_the_schema(home: Home, play: Play) -> None:
    (home.path / "plan.txt").write_text("The plan.")
    (home.path / "schema.json").write_text('{"type": "object", "required": ["sum"]}')
    run = ("run", "Add up", "--attach", "plan.txt", "--output", "schema.json")
    run_id = unique("run")

    shown = home.run(*run, "--model", play(says("no json"), says('{"sum": 3}')), "--run-id", run_id)
    ended = home.run(*run, "--model", play(says("no json"), says('{"sum": 3}')), "--json")

    for told in (shown, home.run("show", run_id)):
        assert told.returncode == 0, told
        assert '\n{"sum": 3}\n{\n  "sum": 3\n}\n' in told.stdout
    assert ended.returncode == 0, ended
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    received = next(event for event in events if event["kind"] == "message_received")
    assert [part["kind"] for part in received["message"]["parts"]] == ["text", "file"]
    turn = next(event for event in events if event["kind"] == "turn_ended")
    assert (turn["end"], turn["data"]) == ("completed", {"sum": 3})
    assert (events[-1]["kind"], events[-1]["data"]) == ("run_closed", {"sum": 3})


def test_an_output_that_never_fits_fails_with_the_turn_s_end(home: Home, play: Play) -> None:
    (home.path / "schema.json").write_text('{"type": "object", "required": ["sum"]}')
    model = play(*(says(f"no json {number}") for number in range(10)))
    run_id = unique("run")

    ended = home.run("run", "Add up", "--model", model, "--output", "schema.json", "--run-id", run_id)
    shown = home.run("show", run_id).stdout

    why = "The answer does not fit the output schema (asked 4 times): It is no JSON: Expecting value"
    assert ended.returncode == 1, ended
    assert f"turn 1 invalid_output: {why}" in ended.stdout
    assert f"run {run_id} failed: {why}" in ended.stderr
    assert f"\ncause   {why}" in shown
    for told in (ended.stdout, shown):
        assert told.count("(the answer does not fit: It is no JSON: Expecting value") == 3


def test_another_model_answers_when_the_first_one_fails(home: Home, play: Play) -> None:
    first, second = play(fails("authentication")), play(says("Second."))

    ended = home.run("run", "Hello", "--model", first, "--fallback", second)

    assert ended.returncode == 0, ended
    assert "Second." in ended.stdout


def test_what_cannot_be_attached_or_read_is_said_before_anything_starts(home: Home) -> None:
    failed(home.run("run", "Hello", "--model", "demo:demo", "--attach", "absent.png"), 2, "absent.png", "attached")
    os.mkfifo(home.path / "pipe")
    schemas = {
        "[]": "JSON object",
        '{"type": "objekt"}': "'objekt' is no type",
        '{"$ref": "http://example.org/a"}': "parts of the schema alone",
        '{"$ref": "#"}': "without end",
    }
    for schema, why in schemas.items():
        (home.path / "schema.json").write_text(schema)
        failed(home.run("run", "Hello", "--model", "demo:demo", "--output", "schema.json"), 2, "schema.json", why)
    for option in ("--attach", "--output"):
        failed(home.run("run", "Hello", "--model", "demo:demo", option, "pipe"), 2, "pipe", "ot a regular file")
