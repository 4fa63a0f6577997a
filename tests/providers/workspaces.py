"""A turn of the demo model over a folder that exists only in memory, with tools that answer as the built-in ones do."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from pydantic import JsonValue

from perdure.contracts.ids import model_message_id, result_message_id
from perdure.contracts.messages import (
    AssistantMessage,
    CallPart,
    Message,
    ResultStatus,
    TextPart,
    ToolMessage,
    UserMessage,
)
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.demo import DemoProvider
from perdure.providers.stream import Assembler

READ = ToolSpec(name="read_file", parameters={"type": "object", "properties": {"path": {}, "limit": {}}})
LIST = ToolSpec(name="list_dir")
WRITE = ToolSpec(name="write_file")
ALL = (LIST, READ, WRITE)


@dataclass
class Workspace:
    """``files`` maps paths to contents; bytes are binary. ``denied`` is the reason that every write is denied with."""

    files: dict[str, str | bytes] = field(default_factory=dict)
    denied: str | None = None
    messages: list[Message] = field(default_factory=list)

    async def turn(self, task: str, tools: tuple[ToolSpec, ...] = ALL, most_steps: int = 10) -> AssistantMessage:
        """Play a turn to its end; the last step is forced when ``most_steps`` are reached."""
        number = sum(message.role == "user" for message in self.messages) + 1
        self.say(task)
        for step in range(1, most_steps + 1):
            message = await self.step(number, step, tools if step < most_steps else ())
            if not message.calls:
                return message
        raise AssertionError("the forced last step asked for calls")

    async def step(self, turn: int, step: int, tools: tuple[ToolSpec, ...]) -> AssistantMessage:
        assembler = Assembler(model_message_id(turn, step), "demo:demo")
        request = ModelRequest(model="demo:demo", messages=tuple(self.messages), tools=tools)
        async for piece in DemoProvider(delay=0).stream(request):
            assembler.add(piece)
        message = assembler.message()
        self.messages.append(message)
        for call in message.calls:
            status, text = self._run(call.tool, call.arguments or {})
            self.messages.append(
                ToolMessage(
                    message_id=result_message_id(call.call_id),
                    call_id=call.call_id,
                    tool=call.tool,
                    status=status,
                    text=text,
                )
            )
        return message

    def say(self, text: str) -> None:
        number = sum(message.role == "user" for message in self.messages) + 1
        self.messages.append(UserMessage(message_id=f"u{number}", parts=(TextPart(text=text),)))

    @property
    def calls(self) -> list[tuple[str, JsonValue]]:
        """Every call so far: the tool and the path."""
        return [(call.tool, (call.arguments or {}).get("path")) for call in self._calls()]

    def _calls(self) -> list[CallPart]:
        return [call for message in self.messages if message.role == "assistant" for call in message.calls]

    def _run(self, tool: str, arguments: dict[str, JsonValue]) -> tuple[ResultStatus, str]:
        path = posixpath.normpath(str(arguments["path"]))
        if tool == "list_dir":
            return self._list(path)
        if tool == "read_file":
            return self._read(path)
        if self.denied is not None:
            return "denied", self.denied
        self.files[path] = str(arguments["content"])
        return "ok", f"Wrote {path}."

    def _list(self, path: str) -> tuple[ResultStatus, str]:
        inside = [name for name in self.files if path == "." or name.startswith(f"{path}/")]
        if not inside and path != ".":
            return "error", f"There is no {path}."
        entries: dict[str, str] = {}
        for name in inside:
            first, slash, _ = posixpath.relpath(name, path).partition("/")
            entries[first] = f"{first}/" if slash else f"{first} ({len(self._bytes(name)):,} bytes)"
        return "ok", "\n".join(entries[name] for name in sorted(entries)) or f"[{path} is an empty folder.]"

    def _read(self, path: str) -> tuple[ResultStatus, str]:
        content = self.files.get(path)
        if content is None:
            return "error", f"There is no {path}."
        if isinstance(content, bytes):
            return "ok", f"[{path} is a binary file: unknown type, {len(content):,} bytes.]"
        return "ok", content

    def _bytes(self, path: str) -> bytes:
        content = self.files[path]
        return content if isinstance(content, bytes) else content.encode()
