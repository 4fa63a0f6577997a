from __future__ import annotations

import asyncio
import re
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from perdure.activities.hooks import HookFunction, ModelHooks, load_model_hooks
from perdure.contracts.errors import InvalidSettingsError
from perdure.contracts.failures import Failure
from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.record import Record
from perdure.contracts.usage import Cost, Usage
from perdure.worker.settings import Settings

FACTS: dict[str, Any] = {
    "run_id": "r1",
    "execution_id": "e1",
    "message_id": "t1s1",
    "turn": 1,
    "step": 1,
    "model": "a:1",
    "attempt": 1,
}
PLANNED = ModelCallPlanned(**FACTS, request=ModelRequest(model="a:1"))
USED = ModelCallUsed(**FACTS, usage=Usage(requests=1), cost=Cost())
ANSWERED = ModelCallAnswered(**FACTS, message=AssistantMessage(message_id="t1s1", parts=(), model="a:1"))
FAILED = ModelCallFailed(**FACTS, failure=Failure(kind="quota", message="no credit"), again=False)
MANUAL = Path(__file__).parents[2] / "docs" / "hooks.md"
SHORT = timedelta(milliseconds=50)


def raises(event: object) -> None:
    raise RuntimeError("sk-canary")


def leaves(event: object) -> None:
    raise SystemExit(3)


class Hanging:
    """A hook that hangs until it is released."""

    def __init__(self) -> None:
        self.called = 0
        self.released = threading.Event()

    def __call__(self, event: object) -> None:
        self.called += 1
        self.released.wait(30)


def guards(**functions: HookFunction) -> ModelHooks:
    return ModelHooks(before=functions, timeout=SHORT)


async def test_a_call_that_nobody_objects_to_goes_on() -> None:
    seen: list[object] = []
    assert await ModelHooks().objection(PLANNED) is None
    assert await guards(one=seen.append, two=seen.append).objection(PLANNED) is None
    assert seen == [PLANNED, PLANNED]


@pytest.mark.parametrize("said", ["", "  \n"])
async def test_a_veto_without_a_reason_is_no_agreement_either(said: str) -> None:
    objection = await guards(one=lambda event: said).objection(PLANNED)
    assert objection is not None
    assert objection.kind == "unavailable"


async def test_the_first_veto_counts_and_nobody_else_is_asked() -> None:
    seen: list[object] = []
    objection = await guards(one=lambda event: " too dear \n", two=seen.append).objection(PLANNED)
    assert objection == Failure(
        kind="vetoed", message="The model call was vetoed by one: too dear", attribution="operator"
    )
    assert seen == []


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (raises, r"it raised RuntimeError at test_hooks\.py:\d+"),
        (leaves, r"it raised SystemExit at test_hooks\.py:\d+"),
        (lambda event: True, "it returned a value of type bool, not None or a reason"),
        (lambda event: threading.Event().wait(2), r"it took longer than 0\.05 s"),
    ],
)
async def test_a_guard_that_cannot_say_lets_nothing_pass_and_may_be_asked_again(
    function: HookFunction, why: str
) -> None:
    objection = await guards(one=function).objection(PLANNED)
    assert objection is not None
    assert (objection.kind, objection.retryable, objection.attribution) == ("unavailable", True, "operator")
    assert re.search(why, objection.message)
    assert "sk-canary" not in objection.message


async def test_each_kind_of_event_reaches_its_own_hooks() -> None:
    told: dict[str, list[object]] = {"usage": [], "completion": [], "error": []}
    hooks = ModelHooks(
        usage={"u": told["usage"].append},
        completion={"c": told["completion"].append},
        error={"e": told["error"].append},
    )
    await hooks.tell(USED, ANSWERED)
    await hooks.tell(FAILED)
    assert told == {"usage": [USED], "completion": [ANSWERED], "error": [FAILED]}
    assert hooks.names == ("u", "c", "e")


async def test_a_hook_that_fails_is_noted_without_its_words_and_the_others_are_told() -> None:
    seen: list[object] = []
    hooks = ModelHooks(usage={"bad": raises, "worse": leaves, "good": seen.append}, timeout=SHORT)
    with capture_logs() as logs:
        await hooks.tell(USED)
    assert seen == [USED]
    assert sorted(entry["hook"] for entry in logs) == ["bad", "worse"]
    assert all(entry["run_id"] == "r1" for entry in logs)
    assert "canary" not in str(logs)


async def test_hooks_are_waited_for_no_longer_than_their_timeout_or_the_patience_given() -> None:
    hanging = Hanging()
    try:
        async with asyncio.timeout(5):
            await ModelHooks(usage={"h": hanging}, timeout=SHORT).tell(USED)
            await ModelHooks(usage={"h": hanging}).tell(USED, patience=SHORT)
        assert hanging.called == 2
    finally:
        hanging.released.set()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "hooks.py"
    made.write_text("def plain(event): ...\nasync def later(event): ...\ndef two(event, more): ...\nword = 'plain'\n")
    return made


def test_hooks_are_loaded_under_the_paths_that_name_them(file: Path) -> None:
    hooks = load_model_hooks(before=[f"{file}:plain"], error=[f"{file}:plain"])
    assert hooks.names == (f"{file}:plain",)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "has no plain function 'missing'"),
        ("later", "has no plain function 'later'"),
        ("word", "has no plain function 'word'"),
        ("two", r"two must take \(event\)"),
    ],
)
def test_what_is_no_hook_is_refused_at_the_start(file: Path, name: str, said: str) -> None:
    with pytest.raises(InvalidSettingsError, match=rf"^Hook path .*{said}"):
        load_model_hooks(usage=[f"{file}:{name}"])


@pytest.mark.parametrize("path", ["hooks", "hooks.py", ":f", "no_such_module:f", "no_such_file.py:f"])
def test_a_path_that_leads_nowhere_is_told(path: str) -> None:
    with pytest.raises(InvalidSettingsError, match=r"^Hook path "):
        load_model_hooks(completion=[path])


def test_the_example_of_the_manual_works(tmp_path: Path) -> None:
    manual = MANUAL.read_text(encoding="utf-8")
    file = tmp_path / "house.py"
    file.write_text(manual.partition("<!-- house.py -->\n```python\n")[2].partition("```")[0])
    hooks = load_model_hooks(before=[f"{file}:within_budget"], usage=[f"{file}:book"])
    dear = ModelCallUsed(**FACTS, user="ada", usage=Usage(requests=1), cost=Cost(nano_dollars=6_000_000_000))

    async def spends() -> list[Failure | None]:
        planned = ModelCallPlanned(**FACTS, user="ada", request=ModelRequest(model="a:1"))
        before = await hooks.objection(planned)
        await hooks.tell(dear)
        return [before, await hooks.objection(planned)]

    before, after = asyncio.run(spends())
    assert before is None
    assert after is not None
    assert after.message.endswith("ada has spent five dollars")


def test_the_manual_names_every_setting_and_every_fact_of_an_event() -> None:
    manual = MANUAL.read_text(encoding="utf-8")
    ours = ("on_model_", "before_model_", "model_hook_")
    settings = [name for name in Settings.model_fields if name.startswith(ours)]
    events: list[type[Record]] = [ModelCallPlanned, ModelCallUsed, ModelCallAnswered, ModelCallFailed]
    facts = {field for event in events for field in event.model_fields}
    missing = [word for word in (*settings, *facts, *(event.__name__ for event in events)) if f"`{word}`" not in manual]
    assert missing == []
