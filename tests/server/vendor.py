"""A model provider on this machine that answers each request as it was told to, and counts them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from perdure.providers.catalogue import Endpoint, WireProtocol
from tests.providers.sockets import serve


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply: its status, headers and body. A ``silent`` one never comes."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False


def chat(text: str, finish: str = "stop", reasoning: str = "", calls: Mapping[str, Any] | None = None) -> Answer:
    """A whole answer of the Chat Completions protocol; ``calls`` are arguments by tool."""
    called = [
        {"index": index, "id": f"call_{index}", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        for index, (tool, arguments) in enumerate((calls or {}).items())
    ]
    delta = {
        "content": text,
        **({"reasoning_content": reasoning} if reasoning else {}),
        **({"tool_calls": called} if called else {}),
    }
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    events = [
        {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"id": "c1", "choices": [], "usage": usage},
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return Answer(body=body.encode(), headers={"content-type": "text/event-stream"})


def error(status: int, message: str, headers: Mapping[str, str] | None = None, /, **fields: Any) -> Answer:
    """An error reply with the envelope that most providers have."""
    body = json.dumps({"error": {"message": message, **fields}}).encode()
    return Answer(status=status, body=body, headers={"content-type": "application/json", **(headers or {})})


@dataclass(slots=True)
class Vendor:
    """A provider: the settings that lead to it as ``vendor:<model>``, the bodies that it was asked with, whether it was
    asked at all, and whether a client hung up on its silence."""

    address: str
    asked: list[dict[str, Any]]
    reached: asyncio.Event
    hung_up: asyncio.Event

    def endpoint(self, protocol: WireProtocol = "openai-chat", dialect: str = "compatible") -> dict[str, Endpoint]:
        """The setting ``providers``."""
        return {"vendor": Endpoint(base_url=self.address, protocol=protocol, dialect=dialect)}


@asynccontextmanager
async def vendor(*answers: Answer) -> AsyncIterator[Vendor]:
    """A provider that gives these answers, one after the other, and the last one again and again."""
    reached, silence, hung_up = asyncio.Event(), asyncio.Event(), asyncio.Event()
    asked: list[dict[str, Any]] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.split("content-length:")[1].split("\r\n")[0])
        asked.append(json.loads(await reader.readexactly(size)))
        reached.set()
        answer = answers[min(len(asked), len(answers)) - 1]
        if answer.silent:
            await _ended(reader, silence, hung_up)
            return
        headers = {**answer.headers, "content-length": str(len(answer.body)), "connection": "close"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {answer.status} Said\r\n{lines}\r\n".encode() + answer.body)
        await writer.drain()

    async with serve(handle) as address:
        try:
            yield Vendor(address, asked, reached, hung_up)
        finally:
            silence.set()


async def _ended(reader: asyncio.StreamReader, silence: asyncio.Event, hung_up: asyncio.Event) -> None:
    """Wait until the client hangs up, or the test is over."""
    over = asyncio.ensure_future(silence.wait())
    gone = asyncio.ensure_future(reader.read(1))
    await asyncio.wait([over, gone], return_when=asyncio.FIRST_COMPLETED)
    if gone.done():
        hung_up.set()
    for waiting in (over, gone):
        waiting.cancel()
