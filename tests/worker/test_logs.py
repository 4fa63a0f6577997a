"""What is logged, and that no secret is among it."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import structlog
from pydantic import SecretStr
from temporalio.exceptions import ApplicationError

from perdure.activities.posture import application_error
from perdure.activities.redaction import HIDDEN, KnownSecrets
from perdure.contracts.errors import OverloadedError
from perdure.providers.catalogue import Endpoint
from perdure.worker.logs import Redaction, configure_logging, secrets_of
from perdure.worker.settings import Settings

CANARY = "canary-7f3a9c1e"


@dataclass
class Holder:
    """An object whose repr tells what it holds."""

    text: str


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        {"event": f"the key is {CANARY}"},
        {"event": "x", "note": {"deep": [{"deeper": (f"a {CANARY} b",)}]}},
        {"event": "x", "holder": Holder(CANARY)},
        {"event": "x", "error": ValueError(CANARY)},
        {"event": "x", "data": CANARY.encode()},
        {"event": "x", CANARY: 1},
    ],
)
def test_a_known_secret_is_hidden_wherever_it_stands(line: dict[str, Any]) -> None:
    redacted = Redaction(KnownSecrets([CANARY]))(None, "info", line)
    assert CANARY not in repr(redacted)
    assert HIDDEN in repr(redacted)


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "ApiKey",
        "Authorization",
        "X-Api-Key",
        "password",
        "PGPASSWORD",
        "GITHUB_PAT",
        "token",
        "client-secret",
    ],
)
def test_a_field_that_is_named_like_a_secret_is_hidden(name: str) -> None:
    assert Redaction()(None, "info", {"event": "x", "headers": {name: "anything"}})["headers"] == {name: HIDDEN}


@pytest.mark.parametrize("text", ["Bearer abcdefgh12345678", "sk-proj-abcdefghijklmnop", "gsk_abcdefghijklmnop1234"])
def test_text_that_has_the_form_of_a_key_is_hidden(text: str) -> None:
    assert Redaction().text(f"sent {text}!") == f"sent {HIDDEN}!"


def test_what_is_no_secret_stays() -> None:
    line = {"event": "skipping the token count", "input_tokens": 12, "token": 3, "monkey": "ape", "run_id": "r-1"}
    assert Redaction(KnownSecrets([CANARY]))(None, "info", line) == line


def test_the_secrets_are_those_of_the_settings_and_of_the_environment() -> None:
    settings = Settings(
        api_key=SecretStr("server-key-1"),
        notify_webhook=SecretStr("https://hooks.example/canary"),
        notify_secret=SecretStr("hook-secret-1"),
        providers={"corp": Endpoint(base_url="https://corp.example", key_variable="CORP_ACCESS")},
    )
    environ = {
        "CORP_ACCESS": "corp-value-1",
        "OPENAI_API_KEY": "openai-value",
        "PATH": "/usr/bin:/bin",
        "MY_TOKEN": "t",
        "PGPASSWORD": "database-1",
        "MONKEY": "long-tailed",
        "PWD": "/home/someone",
    }
    assert secrets_of(settings, environ) == {
        "server-key-1",
        "https://hooks.example/canary",
        "hook-secret-1",
        "corp-value-1",
        "openai-value",
        "database-1",
    }


def test_our_lines_and_those_of_libraries_are_json_without_secrets() -> None:
    stream = io.StringIO()
    configure_logging(Settings(), {"SOME_API_KEY": CANARY}, stream)
    structlog.get_logger("perdure.worker").info("ready", address=f"host-{CANARY}")
    logging.getLogger("library").warning("sent %s", CANARY, extra={"headers": {"authorization": CANARY}})
    try:
        raise RuntimeError(f"refused {CANARY}")
    except RuntimeError:
        logging.getLogger("library").exception("failed")
    assert CANARY not in stream.getvalue()
    ready, sent, failed = lines(stream)
    assert (ready["event"], ready["level"], ready["logger"]) == ("ready", "info", "perdure.worker")
    assert (sent["event"], sent["headers"]) == (f"sent {HIDDEN}", {"authorization": HIDDEN})
    assert f"RuntimeError: refused {HIDDEN}" in failed["exception"]


def test_a_failure_that_says_all_itself_is_logged_without_a_traceback_and_a_fault_of_ours_with_one() -> None:
    stream = io.StringIO()
    configure_logging(Settings(), {}, stream)
    for error in (OverloadedError("corp", "busy", status=500), ValueError("a fault")):
        try:
            raise application_error(error, attempt=1)
        except ApplicationError:
            logging.getLogger("temporalio.activity").warning("Completing activity as failed", exc_info=True)
    expected, fault = lines(stream)
    assert "exception" not in expected
    assert "corp: busy" in expected["error"]
    assert "Traceback" in fault["exception"]


def test_a_terminal_gets_text() -> None:
    stream = Terminal()
    configure_logging(Settings(), {}, stream)
    structlog.get_logger("perdure").info("ready", port=7233)
    assert "ready" in stream.getvalue()
    assert "port=7233" in stream.getvalue()
    assert not stream.getvalue().startswith("{")


def test_lines_below_the_level_are_left_out() -> None:
    stream = io.StringIO()
    configure_logging(Settings(log_level="warning"), {}, stream)
    structlog.get_logger("perdure").info("unheard")
    logging.getLogger("library").info("unheard")
    structlog.get_logger("perdure").warning("heard")
    assert [line["event"] for line in lines(stream)] == ["heard"]
