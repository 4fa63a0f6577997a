"""Live text: what a model call has written so far, read from the heartbeat of its pending activity.

Nothing of it stands in the history. Each subscriber keeps a `Cursor` and is given what it lacks, so that a slow one
costs nobody anything: it gets larger pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from pydantic import ValidationError
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.converter import DataConverter
from temporalio.exceptions import TimeoutType

from perdure.activities.fallbacks import UNHEARD
from perdure.contracts.activities import LiveText
from perdure.contracts.events import Retrying, TextArrived
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.names import CALL_MODEL
from perdure.workflows.failures import why_late

Channel = Literal["text", "reasoning"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the pending activities of a run show at one moment."""

    texts: tuple[LiveText, ...] = ()
    retries: tuple[Retrying, ...] = ()


async def snapshot(run_id: str, pending: tuple[PendingActivityInfo, ...], converter: DataConverter) -> Snapshot:
    """Read the pending activities of a run. Details that cannot be read (another release's) are left out."""
    texts: list[LiveText] = []
    retries: list[Retrying] = []
    for activity in pending:
        name, live = activity.activity_type.name, None
        if name == CALL_MODEL and activity.HasField("heartbeat_details"):
            with suppress(ValidationError, ValueError, RuntimeError, IndexError):
                (live,) = await converter.decode(list(activity.heartbeat_details.payloads), [LiveText])
                texts.append(live)
        if activity.attempt > 1 and activity.HasField("last_failure"):
            told = {"activity": name, "attempt": activity.attempt, "until": _until(activity)}
            retries.append(Retrying(run_id=run_id, reason=_reason(activity, live), **told))
    return Snapshot(texts=tuple(texts), retries=tuple(retries))


def _until(activity: PendingActivityInfo) -> datetime | None:
    """When the next attempt begins; None when it has."""
    waits = activity.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
    planned = waits and activity.HasField("next_attempt_schedule_time")
    return activity.next_attempt_schedule_time.ToDatetime(UTC) if planned else None


def _reason(activity: PendingActivityInfo, live: LiveText | None) -> str:
    """Why the last attempt failed. After a lost worker it is the next attempt that says which model is asked."""
    failure = activity.last_failure
    if not failure.HasField("timeout_failure_info"):
        return failure.message
    reason = why_late(TimeoutType(failure.timeout_failure_info.timeout_type))
    if live is not None and live.attempt == activity.attempt and live.tries < 2 and live.given_up[-1:] == (UNHEARD,):
        return f"{reason} The model {live.model} is asked next."
    return reason


@dataclass(slots=True)
class Cursor:
    """How far one subscriber has read the message that is being written."""

    run_id: str
    _message_id: str = ""
    _attempt: int = 0
    _read: dict[Channel, int] = field(default_factory=dict)
    _told: set[tuple[str, int, str]] = field(default_factory=set)

    def advance(self, seen: Snapshot) -> Iterator[TextArrived | Retrying]:
        """What ``seen`` holds beyond what this subscriber was given."""
        # What a failed attempt wrote came before its failure.
        coming = max((retry.attempt for retry in seen.retries if retry.activity == CALL_MODEL), default=0)
        yield from self._pieces(text for text in seen.texts if text.attempt < coming)
        for retry in seen.retries:
            key = (retry.activity, retry.attempt, retry.reason)
            if key not in self._told:
                self._told.add(key)
                yield retry
        yield from self._pieces(text for text in seen.texts if text.attempt >= coming)

    def _pieces(self, texts: Iterable[LiveText]) -> Iterator[TextArrived]:
        for text in texts:
            yield from self._piece(
                text.message_id, text.attempt, "reasoning", text.reasoning_offset, text.reasoning, text.model
            )
            yield from self._piece(text.message_id, text.attempt, "text", text.text_offset, text.text, text.model)

    def complete(self, message: AssistantMessage) -> Iterator[TextArrived]:
        """The rest of a message that is recorded now: joined with what was given before, it is the recorded text."""
        self._told.clear()
        if self._message_id != message.message_id:
            return
        reasoning = "".join(part.text for part in message.parts if part.kind == "reasoning")
        yield from self._piece(message.message_id, message.attempt, "reasoning", 0, reasoning, message.model)
        yield from self._piece(message.message_id, message.attempt, "text", 0, message.text, message.model)

    def _piece(
        self, message_id: str, attempt: int, channel: Channel, offset: int, text: str, model: str
    ) -> Iterator[TextArrived]:
        if message_id == self._message_id and attempt < self._attempt:
            return
        if (message_id, attempt) != (self._message_id, self._attempt):
            self._message_id, self._attempt, self._read = message_id, attempt, {}
        start = max(offset, self._read.get(channel, 0))
        fresh = text[start - offset :]
        if not fresh:
            return
        self._read[channel] = start + len(fresh)
        yield TextArrived(
            run_id=self.run_id,
            message_id=message_id,
            model=model,
            attempt=attempt,
            channel=channel,
            offset=start,
            text=fresh,
        )
