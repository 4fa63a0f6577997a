"""How fast each protocol's decoder is, in megabytes of stream a second on one core.

``python -m tests.bench.decoders`` takes a long made-up answer of each protocol, in pieces of 4 KiB as a socket gives
them, through all that an answer passes: the stream's lines, JSON, the decoder, the rules for whole answers, and the
assembler. Nothing is sent anywhere.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass

import httpx

from perdure.providers.adapter import decoded
from perdure.providers.anthropic_decoding import MessagesDecoder
from perdure.providers.anthropic_usage import Tally
from perdure.providers.chat_decoding import ChatDecoder
from perdure.providers.completion import whole
from perdure.providers.dialects import DIALECTS
from perdure.providers.gemini_decoding import GeminiDecoder
from perdure.providers.http import Reply
from perdure.providers.openai_responses_decoding import ResponsesDecoder
from perdure.providers.stream import Assembler, Piece
from tests.providers import anthropic_serving, gemini_serving, responses_serving, serving

PIECE = 4096
WORDS = ("The", " sea", " is", " blue", ",", " Grüße", " 世界", " and", " so", " on", ".\n", ' "quoted" ')


@dataclass(frozen=True)
class Measured:
    """One protocol: a stream and what decodes it."""

    stream: bytes
    decoded: Callable[[Reply], AsyncGenerator[Piece, None]]


def words(count: int) -> list[str]:
    return [WORDS[number % len(WORDS)] for number in range(count)]


async def _anthropic(reply: Reply) -> AsyncGenerator[Piece, None]:
    decoder = MessagesDecoder("origin", Tally("anthropic:claude-sonnet-4-5"))
    async for piece in decoded(reply, decoder.begin(reply)):
        yield piece
    for piece in decoder.finish():
        yield piece


def protocols(count: int) -> dict[str, Measured]:
    """A stream of ``count`` words in each protocol."""
    text = "".join(words(count))
    start = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}
    return {
        "OpenAI Chat": Measured(
            serving.events(*(serving.chunk(content=word) for word in words(count)), serving.chunk("stop")),
            lambda reply: decoded(reply, ChatDecoder(reply, DIALECTS["openai"], "origin")),
        ),
        "OpenAI Responses": Measured(
            responses_serving.events(
                responses_serving.begun(),
                responses_serving.added(0, responses_serving.message("")),
                *(responses_serving.text(word) for word in words(count)),
                responses_serving.done(0, responses_serving.message(text)),
                responses_serving.completed(responses_serving.message(text)),
            ),
            lambda reply: decoded(reply, ResponsesDecoder(reply, DIALECTS["openai"], "origin")),
        ),
        "Anthropic Messages": Measured(
            anthropic_serving.events(start, anthropic_serving.text(0, *words(count)), anthropic_serving.end()),
            _anthropic,
        ),
        "Gemini": Measured(
            gemini_serving.events(
                *(gemini_serving.chunk(gemini_serving.text(word)) for word in words(count)),
                gemini_serving.chunk(gemini_serving.text("."), finish="STOP"),
            ),
            lambda reply: decoded(reply, GeminiDecoder(reply, "origin")),
        ),
    }


async def _chunks(stream: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(stream), PIECE):
        yield stream[start : start + PIECE]


async def decode(measured: Measured) -> str:
    """The text of the answer."""
    response = httpx.Response(200, headers=serving.SSE, content=_chunks(measured.stream))
    assembler = Assembler("t1s1", "demo:demo")
    async for piece in whole("bench", measured.decoded(Reply("bench", response))):
        assembler.add(piece)
    return assembler.message().text


def figures(count: int, rounds: int) -> dict[str, tuple[float, float]]:
    """For each protocol the best of several rounds: megabytes a second of processor time, and events a second."""
    found: dict[str, tuple[float, float]] = {}
    for name, measured in protocols(count).items():
        best = min(_seconds(measured) for _ in range(rounds))
        found[name] = (len(measured.stream) / best / 1e6, count / best)
    return found


def _seconds(measured: Measured) -> float:
    before = time.process_time()
    asyncio.run(decode(measured))
    return time.process_time() - before


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    for name, (megabytes, events) in figures(chosen.words, chosen.rounds).items():
        print(f"{name}: {megabytes:.1f} MB/s, {events:,.0f} events/s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
