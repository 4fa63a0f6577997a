"""Canaries: a key, a header, the key of an MCP server and a body in base64 go out with every request of every protocol.

The servers here are hostile: they quote all of it back, in every kind of failure. None of it may be found in what is
logged, raised, recorded in a failure, or handed to Temporal.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest
import structlog
from temporalio.converter import DataConverter

from perdure.activities.objects import make_object
from perdure.activities.posture import application_error
from perdure.contracts.generation import EmbeddingQuery, ImageQuery, ObjectQuery, SpeechQuery, TranscriptionQuery
from perdure.contracts.messages import AudioPart, ImagePart, TextPart, UserMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import HostedTool
from perdure.providers.catalogue import CATALOGUE, ProviderSettings
from perdure.providers.registry import ProviderRegistry
from perdure.providers.stream import Assembler
from perdure.worker.converter import data_converter
from perdure.worker.logs import configure_logging
from perdure.worker.settings import Settings
from tests.providers.sockets import serve

KEY = "sk-canary-7a9f31c2d4e5b6a7988f"
MCP_KEY = "mcp-canary-55aa66bb77cc88dd99ee"
PICTURE = bytes((number * 37 + number // 256) % 256 for number in range(3_000))
BODY = base64.b64encode(PICTURE).decode()

MODELS = {
    "openai": "openai:gpt-4o",
    "openai-responses": "openai-responses:gpt-4o",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-3-pro",
}
WIKI = HostedTool(tool="mcp", server="wiki", url="https://wiki.example/mcp")

Answer = Callable[[str], bytes]


def http(status: str, kind: str, body: str, *, length: int | None = None, request_id: str = "r-1") -> bytes:
    data = body.encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length or len(data)}\r\n"
    return f"{head}x-request-id: {request_id}\r\nconnection: close\r\n\r\n".encode() + data


def told(said: str) -> str:
    return json.dumps({"error": {"message": said, "type": said[-60:], "code": said[-90:], "param": said[:200]}})


ANSWERS: dict[str, Answer] = {
    "a bad request that quotes the request": lambda said: http("400 Bad Request", "application/json", told(said)),
    "an unauthorised one": lambda said: http("401 Unauthorized", "application/json", told(f"Incorrect key: {said}")),
    "an overload in plain text": lambda said: http("503 Unavailable", "text/plain", said),
    "a page": lambda said: http("500 Oh", "text/html", f"<html><pre>{said}</pre></html>"),
    "a list of errors": lambda said: http("429 Slow", "application/json", f"[{told(said)}]"),
    "a redirect": lambda said: http("302 Found", "text/plain", said),
    "an error in a good stream": lambda said: http("200 OK", "text/event-stream", f"data: {told(said)}\n\n"),
    "an error event": lambda said: http("200 OK", "text/event-stream", f"event: error\ndata: {told(said)}\n\n"),
    "no JSON in a stream": lambda said: http("200 OK", "text/event-stream", f"data: {{{said}\n\n"),
    "no stream at all": lambda said: http("200 OK", "application/json", json.dumps(said)),
    "a broken one": lambda said: http("200 OK", "text/event-stream", f"data: {said}", length=10**6),
    "a request id that quotes": lambda said: http("500 Oh", "text/plain", "x", request_id=said),
    "one of a good reply": lambda said: http("200 OK", "text/event-stream", "data: {{\n\n", request_id=said),
    "a header that breaks the rules": lambda said: f"HTTP/1.1 200 OK\r\n{said}\r\n\r\n".encode(),
    "nothing": lambda said: b"",
}


@contextlib.asynccontextmanager
async def quoting(answer: Answer, before: str = "") -> AsyncIterator[str]:
    """A server that answers with the request that it got, headers and body, behind ``before``."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = (await reader.readexactly(int(fields.get("content-length", "0")))).decode("latin-1")
        # One line, keys first: what is cut off at the end must not be what would have been found.
        known = " ".join(key for key in (KEY, MCP_KEY) if key in head + body)
        writer.write(answer(" ".join(f"{before}{head} {known} {body}".split())))
        await writer.drain()

    async with serve(handle) as address:
        yield address


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What a worker logs at its most talkative."""
    root, written = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    chatty = {name: logging.getLogger(name).level for name in ("httpx", "httpcore")}
    configure_logging(Settings(log_level="debug", log_format="json"), {}, written)
    yield written
    root.handlers[:], root.level = handlers, level
    for name, before in chatty.items():
        logging.getLogger(name).setLevel(before)
    structlog.reset_defaults()


def registry_at(address: str) -> ProviderRegistry:
    endpoints = {name: CATALOGUE[name].model_copy(update={"base_url": address}) for name in MODELS}
    settings = ProviderSettings(endpoints=endpoints, mcp_keys={WIKI.url: "WIKI_KEY"}, read_timeout=5)
    environ = {endpoint.key_variable: KEY for endpoint in endpoints.values()} | {"WIKI_KEY": MCP_KEY}
    return ProviderRegistry(settings, environ)


async def everything_of(error: BaseException) -> str:
    """All that could be shown or recorded of an error, down to its causes and the payloads of its failure."""
    shown = [*traceback.format_exception(error), repr(error), str(vars(error))]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    shown += [repr(cause), str(cause)]
    if isinstance(error, Exception):
        made = application_error(error, attempt=1)
        shown += [repr(made), str(made.details), str(made.cause)]
        converter: DataConverter = data_converter()
        shown += [str(payload) for payload in await converter.encode(list(made.details))]
    return "\n".join(shown)


def check(text: str, where: str) -> None:
    """Fail when a canary, or a telling part of one, is in ``text``."""
    for name, secret, least in (("key", KEY, 14), ("MCP key", MCP_KEY, 15), ("body", BODY, 120)):
        found = next(
            (secret[at : at + least] for at in range(len(secret) - least) if secret[at : at + least] in text), ""
        )
        assert not found, f"{name} in {where}: {text[max(0, text.find(found) - 200) :][:400]}"


async def failure_of(work: Awaitable[Any]) -> str:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
        return await everything_of(error)
    return ""


async def ask(registry: ProviderRegistry, model: str) -> None:
    parts = (TextPart(text="Look"), ImagePart(data=PICTURE))
    hosted = (WIKI,) if model.startswith(("anthropic", "openai-responses")) else ()
    request = ModelRequest(model=model, messages=(UserMessage(message_id="u1", parts=parts),), hosted=hosted)
    assembler = Assembler("t1s1", model)
    async with aclosing(registry.open(model).stream(request)) as pieces:
        async for piece in pieces:
            assembler.add(piece)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
async def test_what_goes_out_comes_out_nowhere(model: str, answer: Answer, log: io.StringIO) -> None:
    async with quoting(answer) as address:
        registry = registry_at(address)
        said = await failure_of(ask(registry, model))
        await registry.close()
    assert said, "the answer was taken for a good one"
    check(said, "the error")
    check(log.getvalue(), "the log")


@pytest.mark.parametrize("length", range(180, 1020, 8))
async def test_a_secret_is_not_told_in_half_where_a_text_is_cut(length: int) -> None:
    async with quoting(ANSWERS["a bad request that quotes the request"], f"{'x y ' * (length // 4)}") as address:
        registry = registry_at(address)
        check(await failure_of(ask(registry, "anthropic:claude-sonnet-4-5")), f"the error behind {length}")
        await registry.close()


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_makers_tell_no_more(answer: Answer, log: io.StringIO) -> None:
    image, sound = ImagePart(data=PICTURE), AudioPart(data=PICTURE)
    async with quoting(answer) as address:
        registry = registry_at(address)
        openai, gemini = registry.makers("openai:x"), registry.makers("gemini:x")
        model = "openai:gpt-4o-mini-tts"
        for made in (
            lambda: openai.embedder("openai:e").embed(EmbeddingQuery(model="openai:e", texts=(BODY,))),
            lambda: gemini.embedder("gemini:e").embed(EmbeddingQuery(model="gemini:e", texts=(BODY,))),
            lambda: openai.image_maker("openai:gpt-image-1").make_images(
                ImageQuery(model="openai:gpt-image-1", prompt="x", images=(image,))
            ),
            lambda: gemini.image_maker("gemini:gemini-3-image").make_images(
                ImageQuery(model="gemini:gemini-3-image", prompt="x", images=(image,))
            ),
            lambda: openai.transcriber("openai:whisper-1").transcribe(
                TranscriptionQuery(model="openai:whisper-1", audio=sound)
            ),
            lambda: make_object(
                registry,
                ObjectQuery(model="openai:gpt-4o", prompt="x", parts=(image,), output_schema={"type": "object"}),
            ),
            lambda: openai.speaker(model).speak(SpeechQuery(model=model, text=BODY)),
        ):
            work: Awaitable[Any] = made()
            check(await failure_of(work), "the error")
        await registry.close()
    check(log.getvalue(), "the log")
