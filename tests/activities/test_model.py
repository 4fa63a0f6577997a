from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.hooks import ModelHooks
from perdure.activities.model import ModelActivities, Providers
from perdure.activities.transcripts import TranscriptCache
from perdure.context.render import GUIDANCE
from perdure.contracts.activities import LiveText, ModelCall
from perdure.contracts.errors import KeyMissingError
from perdure.contracts.hooks import ModelCallAnswered, ModelCallFailed, ModelCallPlanned, ModelCallUsed
from perdure.contracts.messages import AssistantMessage, CallPart, TextPart
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.state import TranscriptPage
from perdure.contracts.usage import Usage
from perdure.providers.provider import Provider
from perdure.providers.scripted import Pause, Reply, Script, ScriptedCall, ScriptedFailure, ScriptedProvider
from perdure.providers.stream import FinishPiece, Piece, TextPiece
from tests.activities.runs import Run, said

USAGE = Usage(input_tokens=10, output_tokens=5)


class One:
    """Opens one provider for every model, and remembers the names."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.opened: list[str] = []

    def open(self, model: str) -> Provider:
        self.opened.append(model)
        return self.provider


def playing(*replies: Reply) -> One:
    return One(ScriptedProvider(Script(replies=replies)))


class Beats(ActivityEnvironment):
    """An activity environment that keeps every heartbeat, and cancels the activity at the text ``stop_at``."""

    def __init__(self, *, attempt: int = 1, left: Any = None, stop_at: str | None = None, why: Any = None) -> None:
        super().__init__()
        self.info = replace(self.info, attempt=attempt, heartbeat_details=[] if left is None else [left])
        self.live: list[LiveText] = []
        self._stop_at = stop_at
        self._why = why or ActivityCancellationDetails(cancel_requested=True)
        self.on_heartbeat = self._beat

    def _beat(self, *details: Any) -> None:
        self.live += [detail for detail in details if isinstance(detail, LiveText)]
        if self._stop_at is not None and self.live and self.live[-1].text == self._stop_at:
            self.cancel(self._why)


def activities(providers: Providers, run: Run, hooks: ModelHooks | None = None) -> ModelActivities:
    return ModelActivities(providers, TranscriptCache(run), hooks)


class Several:
    """Opens the scripted models that it is given, by name; a missing one has no key."""

    def __init__(self, **played: Script) -> None:
        self.providers = {f"scripted:{name}": ScriptedProvider(script) for name, script in played.items()}

    def open(self, model: str) -> Provider:
        if model not in self.providers:
            raise KeyMissingError(model, "SOME_KEY")
        return self.providers[model]


async def answered(model: ModelActivities, call: ModelCall) -> tuple[AssistantMessage, list[LiveText]]:
    """The answer to the call after as many attempts as it takes, with what each attempt left."""
    left: list[LiveText] = []
    for attempt in range(1, 20):
        beats = Beats(attempt=attempt, left=left[-1].model_dump(mode="json") if left else None)
        try:
            return await beats.run(model.call_model, call), left
        except ApplicationError as error:
            if error.non_retryable:
                raise
        left.append(beats.live[-1])
    raise AssertionError("the call does not end")


async def test_the_answer_is_streamed_into_one_message() -> None:
    run, beats = Run((said(1),)), Beats()
    one = playing(Reply(reasoning=("Hm.",), text=("Hel", "lo"), calls=(ScriptedCall(tool="add", arguments={"a": 1}),)))
    message = await beats.run(activities(one, run).call_model, run.call())
    assert message == AssistantMessage(
        message_id="t1s1",
        parts=(
            message.parts[0],
            TextPart(text="Hello"),
            CallPart(
                call_id="t1s1c1",
                tool="add",
                arguments_text='{"a": 1}',
                arguments={"a": 1},
                provider_call_id="call_0",
            ),
        ),
        model="scripted:x",
        finish="calls",
        usage=USAGE.model_copy(update={"requests": 1}),
        provider_message_id="scripted-1",
    )
    assert [live.text for live in beats.live if live.text] == ["Hel", "Hello", "Hello"]
    assert beats.live[-1].reasoning == "Hm."
    assert one.opened == ["scripted:x"]


async def test_the_model_sees_the_rendered_transcript_of_the_run() -> None:
    run = Run((said(1), said(2)))
    one = playing(Reply(text=("Yes.",)))
    await Beats().run(activities(one, run).call_model, run.call(model="scripted:other"))
    assert isinstance(one.provider, ScriptedProvider)
    (request,) = one.provider.requests
    assert (request.model, request.system) == ("scripted:other", "You keep the books.")
    assert request.cache_key == run.run_id
    assert request.messages == run.messages


async def test_a_forced_call_gives_guidance() -> None:
    run = Run((said(1),))
    one = playing(Reply(text=("Yes.",)))
    await Beats().run(activities(one, run).call_model, run.call(forced=True))
    assert isinstance(one.provider, ScriptedProvider)
    last = one.provider.requests[0].messages[-1]
    assert last.role == "user"
    assert last.parts == (TextPart(text=GUIDANCE),)


async def test_a_nudged_call_says_that_the_model_repeats_itself() -> None:
    run = Run((said(1),))
    one = playing(Reply(text=("Yes.",)))
    await Beats().run(activities(one, run).call_model, run.call().model_copy(update={"nudged": True}))
    assert isinstance(one.provider, ScriptedProvider)
    assert one.provider.requests[0].messages[-1].message_id == "tail:nudge"


async def test_the_reply_is_remembered_as_the_run_will_have_it() -> None:
    run = Run((said(1),))
    one = playing(Reply(text=("Yes.",)), Reply(text=("Still.",)))
    model = activities(one, run)
    reply = await Beats().run(model.call_model, run.call())
    run.messages, run.asked = (said(1), reply, said(2)), []
    await Beats().run(model.call_model, run.call())
    assert run.asked == [2]


async def test_a_provider_error_is_an_application_error_of_its_kind() -> None:
    run, beats = Run((said(1),)), Beats()
    one = playing(Reply(text=("Hel", "lo"), failures=(ScriptedFailure(kind="overloaded", after=1),)))
    with pytest.raises(ApplicationError) as caught:
        await beats.run(activities(one, run).call_model, run.call())
    assert caught.value.type == "overloaded"
    assert not caught.value.non_retryable
    assert (beats.live[-1].text, beats.live[-1].usage) == ("Hel", Usage(requests=1))


async def test_what_failed_attempts_took_comes_back_with_the_answer() -> None:
    run = Run((said(1),))
    failures = (
        ScriptedFailure(kind="overloaded", after=0),
        ScriptedFailure(kind="network", after=2),
    )
    one = playing(Reply(text=("Hello",), usage=USAGE, failures=failures))
    model = activities(one, run)
    left: Any = None
    for attempt in (1, 2):
        beats = Beats(attempt=attempt, left=left)
        with pytest.raises(ApplicationError):
            await beats.run(model.call_model, run.call())
        left = beats.live[-1].model_dump(mode="json")
    message = await Beats(attempt=3, left=left).run(model.call_model, run.call())
    assert (message.text, message.attempt) == ("Hello", 3)
    assert message.usage == Usage(requests=3, input_tokens=20, output_tokens=10)


async def test_a_new_attempt_starts_its_live_text_anew() -> None:
    run = Run((said(1),))
    left = LiveText(message_id="t1s1", attempt=1, text="Half an ans", usage=Usage(requests=1))
    beats = Beats(attempt=2, left=left.model_dump(mode="json"))
    await beats.run(activities(playing(Reply(text=("Hello",))), run).call_model, run.call())
    assert (beats.live[0].attempt, beats.live[0].text) == (2, "")
    assert all("Half" not in live.text for live in beats.live)


@pytest.mark.parametrize("left", ["half", {"text": 5}, None, 7])
async def test_details_of_another_release_do_no_harm(left: Any) -> None:
    run = Run((said(1),))
    message = await Beats(attempt=2, left=left).run(
        activities(playing(Reply(text=("Hello",))), run).call_model, run.call()
    )
    assert message.text == "Hello"


async def test_a_stopped_call_returns_what_had_come(tmp_path: Path) -> None:
    run, beats = Run((said(1),)), Beats(stop_at="Hello")
    reply = Reply(text=("Hel", "lo", " you"), pauses=(Pause(gate=str(tmp_path / "gate"), after=2),))
    model = activities(playing(reply, Reply(text=("On.",))), run)
    message = await beats.run(model.call_model, run.call())
    assert (message.finish, message.text) == ("interrupted", "Hello")
    assert message.usage.requests == 1
    run.messages, run.asked = (said(1), message, said(2)), []
    assert (await Beats().run(model.call_model, run.call())).text == "On."
    assert run.asked == [2]


async def test_a_call_that_is_stopped_before_any_answer_returns_an_empty_message(tmp_path: Path) -> None:
    run, beats = Run((said(1),)), Beats(stop_at="")
    reply = Reply(text=("Hello",), pauses=(Pause(gate=str(tmp_path / "gate")),))
    message = await beats.run(activities(playing(reply), run).call_model, run.call())
    assert (message.finish, message.parts) == ("interrupted", ())


@pytest.mark.parametrize(
    "why",
    [
        ActivityCancellationDetails(worker_shutdown=True),
        ActivityCancellationDetails(timed_out=True),
        ActivityCancellationDetails(not_found=True),
    ],
)
async def test_a_worker_that_shuts_down_hands_the_call_over_and_completes_nothing(
    tmp_path: Path, why: ActivityCancellationDetails
) -> None:
    run, beats = Run((said(1),)), Beats(stop_at="Hel", why=why)
    reply = Reply(text=("Hel", "lo"), pauses=(Pause(gate=str(tmp_path / "gate"), after=1),))
    with pytest.raises(asyncio.CancelledError):
        await beats.run(activities(playing(reply), run).call_model, run.call())
    assert beats.live[-1].usage.requests == 1


async def test_a_stopped_call_ends_its_request_at_the_provider(tmp_path: Path) -> None:
    closed: list[str] = []

    class Watched:
        def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
            return self._stream()

        async def _stream(self) -> AsyncGenerator[Piece, None]:
            try:
                yield TextPiece("Hel")
                await asyncio.Event().wait()
            finally:
                closed.append("closed")

    run = Run((said(1),))
    await Beats(stop_at="Hel").run(activities(One(Watched()), run).call_model, run.call())
    assert closed == ["closed"]


async def test_an_adapter_that_breaks_is_a_fault_of_ours_without_its_text() -> None:
    class Broken:
        async def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
            yield TextPiece("Hel")
            raise KeyError("Bearer sk-secret")

    run = Run((said(1),))
    with pytest.raises(ApplicationError, match="An unexpected KeyError") as caught:
        await Beats().run(activities(One(Broken()), run).call_model, run.call())
    assert caught.value.non_retryable
    assert "sk-secret" not in str(caught.value)


async def test_a_missing_key_is_told_and_not_tried_again() -> None:
    class Keyless(One):
        def open(self, model: str) -> Provider:
            raise KeyMissingError("openai", "OPENAI_API_KEY")

    run = Run((said(1),))
    with pytest.raises(ApplicationError, match="set OPENAI_API_KEY") as caught:
        await Beats().run(activities(Keyless(ScriptedProvider(Script(replies=()))), run).call_model, run.call())
    assert caught.value.non_retryable


async def test_a_transcript_that_cannot_be_had_is_asked_for_again_and_the_model_is_not_asked() -> None:
    run = Run((said(1),), broken=True)
    one, beats = playing(Reply(text=("Hello",))), Beats()
    with pytest.raises(ApplicationError) as caught:
        await beats.run(activities(one, run).call_model, run.call())
    assert caught.value.type == "transcript_unavailable"
    assert not caught.value.non_retryable
    assert one.opened == []
    assert beats.live[-1].usage == Usage()


async def test_a_call_is_stopped_while_it_waits_for_its_transcript() -> None:
    class Silent:
        async def page(self, call: ModelCall, start: int) -> TranscriptPage:
            await asyncio.Event().wait()
            raise AssertionError("nobody opens this")

    run = Run((said(1),))
    model = ModelActivities(playing(Reply(text=("Hello",))), TranscriptCache(Silent()))
    message = await Beats(stop_at="").run(model.call_model, run.call())
    assert (message.finish, message.parts, message.usage) == ("interrupted", (), Usage())


async def test_the_last_beat_tells_everything_although_the_rest_is_silent() -> None:
    class Slow:
        async def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
            yield TextPiece("Hel")
            await silence.wait()
            yield FinishPiece("stop")

    silence = asyncio.Event()

    class Patient(Beats):
        beats_of_silence = 0

        def _beat(self, *details: Any) -> None:
            super()._beat(*details)
            if self.live[-1].text:
                self.beats_of_silence += 1
                if self.beats_of_silence == 3:
                    silence.set()

    run, beats = Run((said(1),)), Patient()
    await beats.run(activities(One(Slow()), run).call_model, run.call())
    assert [live.text for live in beats.live[-2:]] == ["Hel", "Hel"]


async def test_the_fallback_is_asked_for_what_its_forerunner_could_not_answer_and_nothing_is_lost() -> None:
    run = Run((said(1),))
    failures = (ScriptedFailure(kind="overloaded", after=2), ScriptedFailure(kind="network", after=2))
    providers = Several(
        first=Script(replies=(Reply(text=("Half",), failures=failures),)),
        last=Script(replies=(Reply(text=("Whole",), failures=(ScriptedFailure(kind="timeout"),)),)),
    )
    call = run.call(model="scripted:first").model_copy(
        update={"fallbacks": ("scripted:keyless", "scripted:last"), "tries": 2}
    )
    message, left = await answered(activities(providers, run), call)
    assert (message.text, message.model, message.attempt) == ("Whole", "scripted:last", 5)
    assert message.usage == Usage(requests=4, input_tokens=30, output_tokens=15)
    assert [(live.model, live.tries, len(live.given_up)) for live in left] == [
        ("scripted:first", 1, 0),
        ("scripted:first", 0, 1),
        ("scripted:keyless", 0, 2),
        ("scripted:last", 1, 2),
    ]
    assert [request.model for request in providers.providers["scripted:last"].requests] == ["scripted:last"] * 2


async def test_a_call_that_no_model_answers_is_final_and_says_why_of_each() -> None:
    run = Run((said(1),))
    providers = Several(first=Script(replies=(Reply(failures=(ScriptedFailure(kind="quota"),)),)))
    call = run.call(model="scripted:first").model_copy(update={"fallbacks": ("scripted:keyless",)})
    with pytest.raises(ApplicationError, match=r"No other model answered\. scripted:keyless: .*set SOME_KEY") as caught:
        await answered(activities(providers, run), call)
    assert (caught.value.type, caught.value.non_retryable) == ("quota", True)


async def test_an_answer_that_is_thought_alone_and_was_cut_is_told_once() -> None:
    run, beats = Run((said(1),)), Beats()
    with pytest.raises(ApplicationError, match="used up its output tokens") as caught:
        await beats.run(
            activities(playing(Reply(reasoning=("Let me see",), finish="length")), run).call_model, run.call()
        )
    assert caught.value.non_retryable
    assert beats.live[-1].usage == USAGE.model_copy(update={"requests": 1})


async def test_hooks_learn_what_each_attempt_took_and_came_to() -> None:
    seen: list[Any] = []
    hooks = ModelHooks(
        before={"plan": seen.append},
        usage={"use": seen.append},
        completion={"answer": seen.append},
        error={"fail": seen.append},
    )
    run = Run((said(1),))
    one = playing(Reply(text=("Hello",), failures=(ScriptedFailure(kind="overloaded", after=2),)))
    call = run.call().model_copy(update={"agent": "clerk", "user": "ada"})
    message, _ = await answered(activities(one, run, hooks), call)
    by_attempt = [(type(event).__name__, event.attempt) for event in seen]
    assert by_attempt[0] == ("ModelCallPlanned", 1)
    assert sorted(by_attempt[1:3]) == [("ModelCallFailed", 1), ("ModelCallUsed", 1)]
    assert by_attempt[3] == ("ModelCallPlanned", 2)
    assert sorted(by_attempt[4:]) == [("ModelCallAnswered", 2), ("ModelCallUsed", 2)]
    assert all((event.agent, event.user, event.run_id) == ("clerk", "ada", "r1") for event in seen)
    for event in seen:
        match event:
            case ModelCallPlanned():
                assert event.request.messages == run.messages
            case ModelCallUsed():
                assert event.usage == USAGE.model_copy(update={"requests": 1})
            case ModelCallAnswered():
                assert event.message == message
            case ModelCallFailed():
                assert (event.failure.kind, event.again) == ("overloaded", True)


async def test_a_veto_is_final_and_nobody_is_asked() -> None:
    run, beats = Run((said(1),)), Beats()
    one = playing(Reply(text=("Hello",)))
    hooks = ModelHooks(before={"guard": lambda event: "too dear"})
    with pytest.raises(ApplicationError, match="vetoed by guard: too dear") as caught:
        await beats.run(activities(one, run, hooks).call_model, run.call())
    assert (caught.value.type, caught.value.non_retryable) == ("vetoed", True)
    assert isinstance(one.provider, ScriptedProvider)
    assert one.provider.requests == []
    assert beats.live[-1].usage == Usage()


async def test_a_guard_that_fails_lets_the_call_be_tried_again_with_a_wait() -> None:
    run = Run((said(1),))

    def guard(event: object) -> None:
        raise RuntimeError("sk-canary")

    with pytest.raises(ApplicationError, match="RuntimeError") as caught:
        await Beats().run(
            activities(playing(Reply(text=("Hello",))), run, ModelHooks(before={"guard": guard})).call_model, run.call()
        )
    assert not caught.value.non_retryable
    assert caught.value.next_retry_delay is not None
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "why", [ActivityCancellationDetails(cancel_requested=True), ActivityCancellationDetails(worker_shutdown=True)]
)
async def test_a_stop_while_hooks_are_told_of_an_answer_leaves_the_answer_whole(
    why: ActivityCancellationDetails,
) -> None:
    run, beats, released = Run((said(1),)), Beats(), threading.Event()

    def stops(event: object) -> None:
        loop.call_soon_threadsafe(beats.cancel, why)
        released.wait(30)

    loop = asyncio.get_running_loop()
    try:
        message = await beats.run(
            activities(playing(Reply(text=("Hello",))), run, ModelHooks(completion={"h": stops})).call_model, run.call()
        )
    finally:
        released.set()
    assert (message.text, message.finish) == ("Hello", "stop")


async def test_a_stop_while_hooks_are_told_of_a_failure_returns_what_had_come() -> None:
    run, beats, released = Run((said(1),)), Beats(), threading.Event()

    def stops(event: object) -> None:
        loop.call_soon_threadsafe(beats.cancel, ActivityCancellationDetails(cancel_requested=True))
        released.wait(30)

    loop = asyncio.get_running_loop()
    one = playing(Reply(text=("Hel", "lo"), failures=(ScriptedFailure(kind="overloaded", after=1),)))
    used: list[object] = []
    hooks = ModelHooks(error={"h": stops}, usage={"u": used.append})
    try:
        message = await beats.run(activities(one, run, hooks).call_model, run.call())
    finally:
        released.set()
    assert (message.text, message.finish) == ("Hel", "interrupted")
    assert len(used) == 1


async def test_a_call_is_stopped_while_a_guard_thinks() -> None:
    run, beats, released = Run((said(1),)), Beats(), threading.Event()

    def thinks(event: object) -> None:
        loop.call_soon_threadsafe(beats.cancel, ActivityCancellationDetails(cancel_requested=True))
        released.wait(30)

    loop = asyncio.get_running_loop()
    one = playing(Reply(text=("Hello",)))
    try:
        async with asyncio.timeout(3):
            message = await beats.run(activities(one, run, ModelHooks(before={"h": thinks})).call_model, run.call())
    finally:
        released.set()
    assert (message.parts, message.finish, message.usage) == ((), "interrupted", Usage())


async def test_who_stops_a_call_does_not_wait_for_hooks(tmp_path: Path) -> None:
    run, beats, released = Run((said(1),)), Beats(stop_at="Hel"), threading.Event()
    reply = Reply(text=("Hel", "lo"), pauses=(Pause(gate=str(tmp_path / "gate"), after=1),))
    hooks = ModelHooks(completion={"h": lambda event: released.wait(30)})
    try:
        async with asyncio.timeout(3):
            message = await beats.run(activities(playing(reply), run, hooks).call_model, run.call())
    finally:
        released.set()
    assert (message.text, message.finish) == ("Hel", "interrupted")
