"""Hooks around model calls: each leaves a line in the file that the environment of these tests names."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed

NOTES = "notes.jsonl"
VETO = "not on a Sunday"


def note(what: str, **facts: object) -> None:
    """Add a line to the notes in the folder of this file, which each test copies to its own."""
    with (Path(__file__).parent / NOTES).open("a") as file:
        file.write(json.dumps({"what": what, **facts}) + "\n")


def plan(event: ModelCallPlanned) -> str | None:
    """Veto what is asked for on a Sunday, note the rest."""
    last = event.request.messages[-1]
    text = "".join(part.text for part in last.parts if part.kind == "text") if last.role == "user" else ""
    note("plan", model=event.model, attempt=event.attempt, agent=event.agent, user=event.user)
    return VETO if "Sunday" in text else None


def use(event: ModelCallUsed) -> None:
    note(
        "use", model=event.model, attempt=event.attempt, requests=event.usage.requests, tokens=event.usage.total_tokens
    )


def answer(event: ModelCallAnswered) -> None:
    note(
        "answer", model=event.message.model, attempt=event.attempt, text=event.message.text, finish=event.message.finish
    )


def fail(event: ModelCallFailed) -> None:
    note("fail", model=event.model, attempt=event.attempt, kind=event.failure.kind, again=event.again)


def broken(event: object) -> None:
    raise RuntimeError("sk-canary-in-an-error")


def broken_once(event: ModelCallPlanned) -> None:
    if event.attempt == 1:
        raise RuntimeError("sk-canary-in-an-error")


def hanging(event: object) -> None:
    threading.Event().wait(30)


def slow(event: object) -> None:
    time.sleep(0.05)
    note("slow")
