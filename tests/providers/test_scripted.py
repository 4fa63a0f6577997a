from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.contracts.errors import (
    BadReplyError,
    BadRequestError,
    OverloadedError,
    RateLimitedError,
    UnknownModelError,
)
from perdure.contracts.messages import AssistantMessage, Message
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.contracts.usage import Usage
from perdure.providers.gate import Gate
from perdure.providers.scripted import Pause, Reply, Script, ScriptedCall, ScriptedFailure, ScriptedProvider
from perdure.providers.stream import Assembler, Piece, TextPiece
from tests.providers.serving import assembled, user


def request(*answered: AssistantMessage, tools: bool = True) -> ModelRequest:
    messages: tuple[Message, ...] = (user("go"), *answered)
    return ModelRequest(model="scripted:x", messages=messages, tools=(ToolSpec(name="read"),) if tools else ())


async def played(provider: ScriptedProvider, asked: ModelRequest, attempt: int = 1) -> list[Piece]:
    return [piece async for piece in provider.stream(asked, attempt=attempt)]


async def message(provider: ScriptedProvider, asked: ModelRequest, attempt: int = 1) -> AssistantMessage:
    return assembled(await played(provider, asked, attempt), "scripted:x")


async def test_the_reply_is_chosen_by_the_assistant_messages_in_the_request() -> None:
    provider = ScriptedProvider(Script(replies=(Reply(text=("one",)), Reply(text=("two",)))))
    first = await message(provider, request())
    assert first.text == "one"
    assert (await message(provider, request(first))).text == "two"
    assert (await message(provider, request())).text == "one"
    assert len(provider.requests) == 3


async def test_a_reply_streams_reasoning_text_and_calls_in_the_given_pieces() -> None:
    reply = Reply(
        reasoning=("hm",),
        text=("I ", "look."),
        calls=(ScriptedCall(tool="read", arguments={"a": 1}), ScriptedCall(tool="read", arguments_text='{"a')),
        usage=Usage(input_tokens=3, output_tokens=4),
    )
    pieces = await played(ScriptedProvider(Script(replies=(reply,))), request())
    assert [piece.text for piece in pieces if isinstance(piece, TextPiece)] == ["I ", "look."]
    made = assembled(pieces, "scripted:x")
    assert [part.kind for part in made.parts] == ["reasoning", "text", "call", "call"]
    assert [(call.arguments, call.provider_call_id) for call in made.calls] == [({"a": 1}, "call_0"), (None, "call_0")]
    assert (made.finish, made.usage.total_tokens, made.cost.unpriced) == ("calls", 7, 0)


async def test_failures_are_played_by_attempt_and_need_no_memory() -> None:
    wait = timedelta(seconds=2)
    failures = (ScriptedFailure(kind="rate_limited", retry_after=wait), ScriptedFailure(after=1), None)
    script = Script(replies=(Reply(text=("a", "b"), failures=failures),))
    with pytest.raises(RateLimitedError) as limited:
        await played(ScriptedProvider(script), request(), 1)
    assert (limited.value.retry_after, limited.value.delivered) == (wait, False)
    with pytest.raises(OverloadedError) as overloaded:
        await played(ScriptedProvider(script), request(), 2)
    assert overloaded.value.delivered
    for attempt in (3, 4):
        assert (await message(ScriptedProvider(script), request(), attempt)).text == "ab"


async def test_a_failure_after_more_pieces_than_there_are_still_fails() -> None:
    script = Script(replies=(Reply(text=("a",), failures=(ScriptedFailure(after=99),)),))
    with pytest.raises(OverloadedError):
        await played(ScriptedProvider(script), request())


async def test_a_forced_request_gets_the_forced_reply() -> None:
    reply = Reply(calls=(ScriptedCall(tool="read"),), forced=Reply(text=("enough",)))
    provider = ScriptedProvider(Script(replies=(reply,)))
    assert (await message(provider, request())).calls
    assert (await message(provider, request(tools=False))).text == "enough"


async def test_a_script_that_is_over_says_so_and_nobody_asks_again() -> None:
    provider = ScriptedProvider(Script(replies=(Reply(text=("one",)),)))
    first = await message(provider, request())
    with pytest.raises(BadRequestError, match="no reply 2, it ends after 1") as caught:
        await played(provider, request(first))
    assert not caught.value.retryable


async def test_a_script_may_repeat_its_last_reply() -> None:
    provider = ScriptedProvider(Script(replies=(Reply(text=("one",)),), repeat_last=True))
    first = await message(provider, request())
    assert (await message(provider, request(first, first))).text == "one"


async def test_an_empty_reply_is_a_fault_as_with_any_provider() -> None:
    with pytest.raises(BadReplyError, match="empty"):
        await played(ScriptedProvider(Script(replies=(Reply(),))), request())


async def test_a_pause_holds_the_stream_in_the_middle_of_the_text(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    reply = Reply(text=("a", "b"), pauses=(Pause(gate=str(gate.path), after=1),))
    assembler = Assembler("t1s1", "scripted:x")
    begun = asyncio.Event()

    async def follow() -> None:
        async with aclosing(ScriptedProvider(Script(replies=(reply,))).stream(request())) as pieces:
            async for piece in pieces:
                assembler.add(piece)
                if assembler.text:
                    begun.set()

    task = asyncio.create_task(follow())
    async with asyncio.timeout(10):
        await begun.wait()
        assert assembler.text == "a"
        assert gate.occupied
        gate.open()
        await task
    assert assembler.text == "ab"


async def test_a_pause_at_an_impossible_place_is_a_typed_error(tmp_path: Path) -> None:
    script = Script(replies=(Reply(text=("a",), pauses=(Pause(gate=str(tmp_path / "no" / "gate")),)),))
    with pytest.raises(BadRequestError, match="no gate can stand"):
        await played(ScriptedProvider(script), request())


def test_a_script_round_trips_through_its_file(tmp_path: Path) -> None:
    script = Script(
        replies=(
            Reply(
                text=("é\u2028",),
                calls=(ScriptedCall(tool="read", arguments={"a": [1]}),),
                failures=(None, ScriptedFailure(retry_after=timedelta(milliseconds=1500))),
                pauses=(Pause(gate="/tmp/g", after=2),),
                pace=timedelta(milliseconds=3),
                forced=Reply(text=("x",)),
            ),
        ),
        repeat_last=True,
    )
    script.save(tmp_path / "script.json")
    assert Script.load(tmp_path / "script.json") == script


@pytest.mark.parametrize("text", ["", "{", "[]", '{"replies": [{"txt": ["a"]}]}', '{"replies": 3}'])
def test_a_file_that_is_no_script_is_named_in_the_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(UnknownModelError, match=r"script\.json"):
        Script.load(path)


def test_a_missing_script_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownModelError, match=r"nowhere\.json"):
        Script.load(tmp_path / "nowhere.json")
