from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError

from perdure.activities.model import ModelActivities
from perdure.activities.transcripts import TranscriptCache
from perdure.context.render import GUIDANCE
from perdure.contracts.activities import LiveText, ModelCall
from perdure.contracts.errors import KeyMissingError
from perdure.contracts.messages import AssistantMessage, CallPart, TextPart
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.state import TranscriptPage
from perdure.contracts.usage import Bill, Usage
from perdure.providers.provider import Provider
from perdure.providers.scripted import Pause, Reply, Script, ScriptedCall, ScriptedFailure, ScriptedProvider
from perdure.providers.stream import FinishPiece, Piece, TextPiece
from tests.activities.models import USAGE, Beats, One, activities, playing
from tests.activities.runs import Run, said


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
    taken = Usage(requests=1, incomplete=1)
    assert (beats.live[-1].text, beats.live[-1].usage) == ("Hel", taken)
    assert caught.value.details[1] == Bill(usage=taken)


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
    assert message.usage == Usage(requests=3, input_tokens=20, output_tokens=10, incomplete=1)


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


class Endless:
    """A model that says a word and never ends."""

    async def stream(self, request: ModelRequest, *, attempt: int = 1) -> AsyncGenerator[Piece, None]:
        yield TextPiece("Hel")
        await asyncio.Event().wait()


async def test_an_answer_that_is_not_whole_at_the_deadline_is_given_up_and_told_as_that() -> None:
    run, beats = Run((said(1),)), Beats()
    call = run.call().model_copy(update={"deadline": timedelta(milliseconds=10)})
    with pytest.raises(ApplicationError) as caught:
        await beats.run(activities(One(Endless()), run).call_model, call)
    assert (caught.value.type, caught.value.non_retryable) == ("timeout", False)
    assert caught.value.message == "scripted: no whole answer came within model_deadline (0.01 s)"
    assert caught.value.details[1] == Bill(usage=Usage(requests=1, incomplete=1))
    assert beats.live[-1].text == "Hel"


async def test_a_model_that_passes_its_deadline_gives_way_to_its_fallback_which_is_told() -> None:
    run = Run((said(1),))
    call = run.call().model_copy(
        update={"deadline": timedelta(milliseconds=10), "fallbacks": ("scripted:other",), "tries": 1}
    )
    message = r"within model_deadline \(0\.01 s\)\. The model scripted:other is asked next\."
    with pytest.raises(ApplicationError, match=message):
        await Beats().run(activities(One(Endless()), run).call_model, call)


async def test_an_answer_that_is_thought_alone_and_was_cut_is_told_once() -> None:
    run, beats = Run((said(1),)), Beats()
    with pytest.raises(ApplicationError, match="used up its output tokens") as caught:
        await beats.run(
            activities(playing(Reply(reasoning=("Let me see",), finish="length")), run).call_model, run.call()
        )
    assert caught.value.non_retryable
    assert beats.live[-1].usage == USAGE.model_copy(update={"requests": 1})
