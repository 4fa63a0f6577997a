"""A webhook's other end: takes what is posted, and answers as it is told to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from perdure.contracts.activities import Notification


@dataclass(frozen=True, slots=True)
class Posted:
    """One request. ``key`` is its Idempotency-Key."""

    key: str
    headers: dict[str, str]
    body: bytes
    path: str

    @property
    def notification(self) -> Notification:
        return Notification.model_validate_json(self.body)

    @property
    def about(self) -> tuple[str, str]:
        """The stage, and the id of the request or question."""
        told = self.notification
        asked = told.request.request_id if told.request else told.question.question_id if told.question else ""
        return told.stage, asked


@dataclass
class Receiver:
    """Answers ``statuses`` one after the other, then 200, each with ``said`` as its body."""

    statuses: list[int] = field(default_factory=list)
    said: str = ""
    port: int = 0
    posted: list[Posted] = field(default_factory=list)
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def until(self, count: int) -> list[Posted]:
        """Wait until so many requests have come; all of them."""
        async with asyncio.timeout(60), self._news:
            await self._news.wait_for(lambda: len(self.posted) >= count)
        return self.posted

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request (asyncio calls it)."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            body = await reader.readexactly(int(headers["content-length"]))
            status = self.statuses.pop(0) if self.statuses else 200
            answer = f"HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {len(self.said)}\r\n\r\n{self.said}"
            writer.write(answer.encode())
            await writer.drain()
            async with self._news:
                self.posted.append(Posted(headers["idempotency-key"], headers, body, first.split()[1]))
                self._news.notify_all()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def receiving(*statuses: int, said: str = "") -> AsyncIterator[Receiver]:
    """A receiver for the time of the block."""
    receiver = Receiver(list(statuses), said)
    async with await asyncio.start_server(receiver.answer, "127.0.0.1", 0) as server:
        receiver.port = server.sockets[0].getsockname()[1]
        yield receiver
