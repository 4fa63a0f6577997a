"""Notifications: what a command and a webhook get, and what follows when they do not take it."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.notify import CommandHook, Hook, NotifyActivity, WebhookHook
from perdure.activities.setbacks import LONGEST, SHORTEST
from perdure.contracts.activities import Notification
from perdure.contracts.approvals import Question
from perdure.contracts.errors import NotificationFailedError
from perdure.workflows.executors import NOTIFY_ATTEMPTS

NOW = datetime.now(UTC)
CANARY = "canary-51c7e0aa"
QUESTION = Question(question_id="t1s1c1", call_id="t1s1c1", text="Red or blüe?", opened_at=NOW)
ASKED = Notification(key="run 1/t1s1c1/opened", stage="opened", run_id="run 1", agent="clerk", question=QUESTION)
LONG = timedelta(minutes=1)
SHORT = timedelta(milliseconds=100)

Answer = Callable[[httpx.Request], httpx.Response]


@dataclass
class Hearer:
    """A hook of a test's own: remembers what it was told, and fails as often as it is given failures."""

    name: str = "hearer"
    failures: list[NotificationFailedError] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def tell(self, notification: Notification) -> None:
        self.keys.append(notification.key)
        if self.failures:
            raise self.failures.pop(0)


class Attempts:
    """Attempts of one activity, each of which sees what the last one before it had said by heartbeat."""

    def __init__(self, *hooks: Hook) -> None:
        self._activity = NotifyActivity(hooks)
        self._details: tuple[Any, ...] = ()

    async def next(self) -> ApplicationError | None:
        """What the next attempt failed with, or None."""
        environment = ActivityEnvironment()
        environment.info = replace(environment.info, heartbeat_details=self._details, workflow_run_id="e1")
        environment.on_heartbeat = self._heard
        try:
            await environment.run(self._activity.notify, ASKED)
        except ApplicationError as error:
            return error
        return None

    def _heard(self, *details: Any) -> None:
        self._details = details


def webhook(answer: Answer, **wishes: Any) -> WebhookHook:
    given = {"url": "https://hooks.example/in", "patience": LONG, **wishes}
    return WebhookHook(transport=httpx.MockTransport(answer), **given)


def command(folder: Path, *program: str, patience: timedelta = LONG, **environment: str) -> CommandHook:
    return CommandHook(program, folder, {"PATH": os.environ["PATH"], **environment}, patience)


def python(folder: Path, source: str, **wishes: Any) -> CommandHook:
    return command(folder, sys.executable, "-c", source, **wishes)


async def failure(hook: Hook) -> NotificationFailedError:
    with pytest.raises(NotificationFailedError) as caught:
        await hook.tell(ASKED)
    return caught.value


async def test_a_webhook_gets_the_notification_its_key_and_a_signature() -> None:
    got: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        got.append(request)
        return httpx.Response(202)

    await webhook(answer, url="https://ada:pass@hooks.example/in?token=t", secret=CANARY).tell(ASKED)
    (request,) = got
    assert (request.method, str(request.url.path), request.url.query) == ("POST", "/in", b"token=t")
    assert request.headers["Idempotency-Key"] == "run%201/t1s1c1/opened"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Authorization"].startswith("Basic ")
    assert Notification.model_validate_json(request.content) == ASKED
    signed = hmac.new(CANARY.encode(), request.content, hashlib.sha256).hexdigest()
    assert request.headers["Perdure-Signature"] == f"sha256={signed}"


async def test_a_webhook_without_a_secret_gets_no_signature() -> None:
    got: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        got.append(request)
        return httpx.Response(200)

    await webhook(answer).tell(ASKED)
    assert "Perdure-Signature" not in got[0].headers


@pytest.mark.parametrize(
    ("status", "retryable"),
    [
        (500, True),
        (503, True),
        (429, True),
        (408, True),
        (400, False),
        (401, False),
        (404, False),
        (410, False),
        (302, False),
    ],
)
async def test_what_a_webhook_answers_says_whether_to_try_again(status: int, retryable: bool) -> None:
    failed = await failure(webhook(lambda request: httpx.Response(status, headers={"Location": "https://x.example"})))
    assert failed.retryable is retryable
    assert str(failed) == f"The notification webhook failed: it answered with status {status}."


async def test_a_webhook_that_hangs_is_left_after_its_time_and_tried_again(foreign_port: int) -> None:
    failed = await failure(WebhookHook(f"http://127.0.0.1:{foreign_port}/", SHORT))
    assert failed.retryable
    assert "no answer within 0.1 s" in str(failed)


async def test_a_webhook_whose_answer_never_ends_has_taken_the_notification() -> None:
    async def endless() -> Any:
        while True:
            yield b"x"

    await webhook(lambda request: httpx.Response(200, content=endless())).tell(ASKED)


async def test_a_webhook_that_cannot_be_reached_is_tried_again_and_one_without_a_host_is_not(
    unused_tcp_port: int,
) -> None:
    assert (await failure(WebhookHook(f"http://127.0.0.1:{unused_tcp_port}/", LONG))).retryable
    assert not (await failure(WebhookHook("http://", LONG))).retryable
    assert not (await failure(WebhookHook("https://hooks.example:port/", LONG))).retryable


async def test_no_failure_of_a_webhook_repeats_its_url_its_secret_or_its_answer() -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError(f"cannot connect to {request.url}")

    url = f"https://u:{CANARY}@hooks.example/{CANARY}?token={CANARY}"
    for answer in (
        broken,
        lambda request: httpx.Response(500, text=CANARY),
        lambda request: httpx.Response(400, text=CANARY),
    ):
        failed = await Attempts(webhook(answer, url=url, secret=CANARY)).next()
        assert failed is not None
        assert CANARY not in repr((failed, failed.message, failed.details, failed.__cause__))


async def test_a_command_reads_the_notification_and_its_key(tmp_path: Path) -> None:
    source = (
        "import os, pathlib, sys; pathlib.Path('told').write_bytes(sys.stdin.buffer.read());"
        "pathlib.Path('key').write_text(os.environ['PERDURE_IDEMPOTENCY_KEY'])"
    )
    await python(tmp_path, source).tell(ASKED)
    assert Notification.model_validate_json((tmp_path / "told").read_bytes()) == ASKED
    assert (tmp_path / "key").read_text() == ASKED.key


async def test_a_command_gets_its_words_as_they_are_and_no_shell(tmp_path: Path) -> None:
    source = "import json, pathlib, sys; pathlib.Path('words').write_text(json.dumps(sys.argv[1:]))"
    await command(tmp_path, sys.executable, "-c", source, "a b", "$HOME", "; touch x").tell(ASKED)
    assert json.loads((tmp_path / "words").read_text()) == ["a b", "$HOME", "; touch x"]


async def test_a_command_sees_no_secret_of_the_worker(tmp_path: Path) -> None:
    source = "import json, os, pathlib; pathlib.Path('seen').write_text(json.dumps(dict(os.environ)))"
    secrets = {
        "OPENAI_API_KEY": CANARY,
        "PERDURE_NOTIFY_SECRET": CANARY,
        "PERDURE_NOTIFY_WEBHOOK": f"https://{CANARY}/",
    }
    await python(tmp_path, source, MAIL_TO="ada@example.org", **secrets).tell(ASKED)
    seen = (tmp_path / "seen").read_text()
    assert CANARY not in seen
    assert json.loads(seen)["MAIL_TO"] == "ada@example.org"


async def test_how_a_command_ends_says_whether_to_try_again(tmp_path: Path) -> None:
    failed = await failure(python(tmp_path, f"import sys; print('{CANARY}'); sys.exit('{CANARY}')"))
    assert (failed.retryable, str(failed)) == (True, "The notification command failed: it ended with exit code 1.")
    missing = await failure(command(tmp_path, "no-such-program"))
    assert (missing.retryable, "cannot be started" in str(missing)) == (False, True)
    odd = await failure(command(tmp_path, "true\0"))
    assert not odd.retryable


async def test_a_command_that_hangs_is_ended_and_tried_again(tmp_path: Path) -> None:
    failed = await failure(command(tmp_path, "tail", "-f", "/dev/null", patience=SHORT))
    assert failed.retryable
    assert "did not end within 0.1 s" in str(failed)


def refusal(*, retryable: bool) -> NotificationFailedError:
    return NotificationFailedError("hearer", "busy", retryable=retryable)


async def test_every_attempt_carries_the_key_of_this_execution_of_the_run() -> None:
    hearer = Hearer(failures=[refusal(retryable=True)])
    attempts = Attempts(hearer)
    failed = await attempts.next()
    assert failed is not None
    assert not failed.non_retryable
    assert await attempts.next() is None
    assert hearer.keys == ["run 1/t1s1c1/opened/e1"] * 2


async def test_a_hook_that_took_the_notification_is_not_told_again_when_another_failed() -> None:
    ready, busy = Hearer("ready"), Hearer("busy", [refusal(retryable=True)] * 2)
    attempts = Attempts(ready, busy)
    assert [await attempts.next() is None for _ in range(3)] == [False, False, True]
    assert (len(ready.keys), len(busy.keys)) == (1, 3)


async def test_a_hook_that_never_takes_it_is_told_once_and_fails_the_activity_in_the_end() -> None:
    closed, busy = Hearer("closed", [refusal(retryable=False)]), Hearer("busy", [refusal(retryable=True)])
    attempts = Attempts(closed, busy)
    first, second = await attempts.next(), await attempts.next()
    assert first is not None
    assert second is not None
    assert (first.non_retryable, second.non_retryable) == (False, True)
    assert (len(closed.keys), len(busy.keys)) == (1, 2)


async def test_without_hooks_nobody_is_told() -> None:
    assert await Attempts().next() is None


def test_a_hook_that_is_down_is_told_again_for_as_long_as_the_manual_says() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "notifications.md").read_text(encoding="utf-8")
    assert f"up to {NOTIFY_ATTEMPTS} attempts within ten minutes" in manual
    longest = sum(min(SHORTEST * 2**attempt, LONGEST).total_seconds() for attempt in range(1, NOTIFY_ATTEMPTS))
    assert timedelta(minutes=9) < timedelta(seconds=longest) <= timedelta(minutes=11)


def test_the_example_of_the_manual_is_a_notification() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "notifications.md").read_text(encoding="utf-8")
    example = json.loads(manual.partition("```json\n")[2].partition("```")[0])
    assert Notification.model_validate(example).model_dump(mode="json").keys() == example.keys()
    request = Notification.model_validate(example).request
    assert request is not None
    assert request.model_dump(mode="json").keys() == example["request"].keys()
    assert request.calls[0].model_dump(mode="json") == example["request"]["calls"][0]
