from __future__ import annotations

from datetime import UTC, datetime

from temporalio.api.enums.v1 import PendingActivityState, TimeoutType
from temporalio.api.failure.v1 import Failure, TimeoutFailureInfo
from temporalio.api.workflow.v1 import PendingActivityInfo

from perdure.activities.fallbacks import UNHEARD
from perdure.client.live import Cursor, Snapshot, snapshot
from perdure.contracts.activities import LiveText
from perdure.contracts.events import Retrying, TextArrived
from perdure.contracts.messages import AssistantMessage, ReasoningPart, TextPart
from perdure.worker.converter import data_converter

LOST = TimeoutType.TIMEOUT_TYPE_HEARTBEAT
DEADLINE = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE


def seen(text: str, *, attempt: int = 1, offset: int = 0, message_id: str = "t1s1", reasoning: str = "") -> Snapshot:
    live = LiveText(message_id=message_id, attempt=attempt, text=text, text_offset=offset, reasoning=reasoning)
    return Snapshot(texts=(live,))


def pieces(cursor: Cursor, *snapshots: Snapshot) -> list[tuple[int, int, str]]:
    """Attempt, offset and text of what the cursor gives for these snapshots."""
    return [
        (event.attempt, event.offset, event.text)
        for snapshot in snapshots
        for event in cursor.advance(snapshot)
        if isinstance(event, TextArrived)
    ]


def answered(text: str, *, attempt: int = 1, reasoning: str = "") -> AssistantMessage:
    parts = (ReasoningPart(text=reasoning), TextPart(text=text))
    return AssistantMessage(message_id="t1s1", parts=parts, model="m", attempt=attempt)


def test_each_piece_is_given_once() -> None:
    cursor = Cursor("run")
    assert pieces(cursor, seen("one "), seen("one "), seen("one two")) == [(1, 0, "one "), (1, 4, "two")]


def test_each_piece_says_which_model_wrote_it() -> None:
    cursor = Cursor("run")
    snapshots = [
        Snapshot(texts=(LiveText(message_id="t1s1", attempt=number, text="Hi", model=model),))
        for number, model in ((1, "a:1"), (2, "b:2"))
    ]
    written = [event for snapshot in snapshots for event in cursor.advance(snapshot) if event.kind == "text_arrived"]
    assert [(event.attempt, event.model) for event in written] == [(1, "a:1"), (2, "b:2")]
    (rest,) = cursor.complete(answered("Hi there", attempt=2))
    assert (rest.text, rest.model) == (" there", "m")


def test_a_new_attempt_starts_again_at_its_beginning() -> None:
    cursor = Cursor("run")
    assert pieces(cursor, seen("half"), seen("wh", attempt=2), seen("whole", attempt=2)) == [
        (1, 0, "half"),
        (2, 0, "wh"),
        (2, 2, "ole"),
    ]


def test_what_an_older_attempt_left_behind_is_not_given_any_more() -> None:
    cursor = Cursor("run")
    assert pieces(cursor, seen("whole", attempt=2), seen("half", attempt=1)) == [(2, 0, "whole")]


def test_a_window_that_moved_on_leaves_a_gap_that_the_offset_shows() -> None:
    cursor = Cursor("run")
    assert pieces(cursor, seen("0123"), seen("89", offset=8)) == [(1, 0, "0123"), (1, 8, "89")]


def test_the_recorded_message_brings_the_rest() -> None:
    cursor = Cursor("run")
    pieces(cursor, seen("one "))
    assert [event.text for event in cursor.complete(answered("one two"))] == ["two"]


def test_a_message_that_was_never_seen_live_brings_nothing_of_its_own() -> None:
    assert list(Cursor("run").complete(answered("one two"))) == []


def test_a_message_of_a_later_attempt_than_the_seen_one_is_given_whole() -> None:
    cursor = Cursor("run")
    pieces(cursor, seen("half"))
    rest = list(cursor.complete(answered("whole", attempt=2)))
    assert [(event.attempt, event.offset, event.text) for event in rest] == [(2, 0, "whole")]


def test_reasoning_comes_on_a_channel_of_its_own() -> None:
    cursor = Cursor("run")
    given = [event for event in cursor.advance(seen("text", reasoning="hm")) if isinstance(event, TextArrived)]
    assert [(event.channel, event.text) for event in given] == [("reasoning", "hm"), ("text", "text")]


def test_what_a_failed_attempt_wrote_comes_before_its_failure_and_what_the_next_one_writes_after_it() -> None:
    retry = Retrying(activity="call_model", attempt=2, reason="overloaded")
    cursor = Cursor("run")
    told = [
        event
        for text, attempt in (("a", 1), ("b", 2))
        for event in cursor.advance(Snapshot(texts=seen(text, attempt=attempt).texts, retries=(retry,)))
    ]
    assert [event.text if isinstance(event, TextArrived) else event.kind for event in told] == ["a", "retrying", "b"]


NOON = datetime(2024, 5, 14, 12, 0, tzinfo=UTC)
WAITS = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
RUNS = PendingActivityState.PENDING_ACTIVITY_STATE_STARTED


async def retrying(
    state: PendingActivityState.ValueType, failure: Failure, live: LiveText | None = None
) -> tuple[str, datetime | None]:
    """What is told of a second attempt that waits until noon, or runs: the reason, and until when."""
    activity = PendingActivityInfo(attempt=2, state=state, last_failure=failure)
    activity.activity_type.name = "call_model"
    if state == WAITS:
        activity.next_attempt_schedule_time.FromDatetime(NOON)
    if live is not None:
        activity.heartbeat_details.payloads.extend(await data_converter().encode([live]))
    (retry,) = (await snapshot("run", (activity,), data_converter())).retries
    return retry.reason, retry.until


def late(limit: TimeoutType.ValueType) -> Failure:
    return Failure(message="timeout", timeout_failure_info=TimeoutFailureInfo(timeout_type=limit))


async def test_a_retry_says_until_when_it_waits() -> None:
    assert await retrying(WAITS, Failure(message="busy")) == ("busy", NOON)
    assert await retrying(RUNS, Failure(message="busy")) == ("busy", None)


async def test_a_retry_after_a_lost_worker_or_a_deadline_says_so_in_words() -> None:
    assert await retrying(WAITS, late(LOST)) == ("Its worker was lost.", NOON)
    assert await retrying(RUNS, late(DEADLINE)) == ("It did not end within its deadline.", None)


async def test_after_a_lost_worker_the_attempt_that_asks_another_model_tells_of_it() -> None:
    asks = LiveText(message_id="t1s1", attempt=2, model="b:2", tries=1, given_up=(UNHEARD,))
    assert await retrying(RUNS, late(LOST), asks) == ("Its worker was lost. The model b:2 is asked next.", None)
    again = asks.model_copy(update={"given_up": ()})
    assert await retrying(RUNS, late(LOST), again) == ("Its worker was lost.", None)


def test_a_retry_is_told_once() -> None:
    cursor = Cursor("run")
    retry = Snapshot(retries=(Retrying(activity="call_model", attempt=2, reason="overloaded"),))
    assert [event.kind for event in (*cursor.advance(retry), *cursor.advance(retry))] == ["retrying"]
