"""Checking a model: one small real call with a tool on offer, and what of it worked."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta

from perdure.cli.lines import Span, Style
from perdure.cli.screen import Screen
from perdure.cli.session import read_settings, said
from perdure.cli.text import arguments_line, money, one_line, plain
from perdure.contracts.errors import ProviderTimeoutError
from perdure.contracts.messages import AssistantMessage, TextPart, UserMessage
from perdure.contracts.prompts import ModelRequest
from perdure.contracts.tools import ToolSpec
from perdure.providers.choice import choose_model
from perdure.providers.provider import Provider
from perdure.providers.registry import ProviderRegistry
from perdure.providers.stream import Assembler, CallPiece, ReasoningPiece, TextPiece

LIST_DIR = ToolSpec(
    name="list_dir",
    description="List the files and folders in a folder.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The folder; . is the current one."}},
        "required": ["path"],
    },
    effect="read",
)
READ_FILE = ToolSpec(
    name="read_file",
    description="Read a text file.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The file."}},
        "required": ["path"],
    },
    effect="read",
)
TASK = "Which files are in the current folder? Call the tool list_dir with the path '.' to find out."
MOST_TOKENS = 2_000


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of the call: the message, how many pieces it came in, and when the first one and the last one came."""

    message: AssistantMessage
    pieces: int
    first: float
    whole: float


async def check_model(model: str | None, patience: timedelta) -> int:
    """Make the call and say what worked; 1 when the model answered without calling the tool that it was told to.

    Raises UnknownModelError, KeyMissingError, ProviderError.
    """
    screen = Screen()
    loaded = read_settings(screen)
    settings = loaded.settings
    choice = await choose_model(model or settings.model, loaded.environ, settings.provider_settings)
    providers = ProviderRegistry(settings.provider_settings, loaded.environ)
    why = "named" if model else "the setting `model`" if settings.model else choice.why
    screen.write((Span(f"model     {plain(choice.model)} ({plain(why)})\n", "strong"),))
    try:
        provider = providers.open(choice.model)
        async with said(screen, "Waiting for the model …"):
            trial = await tried(provider, choice.model, patience)
    finally:
        await providers.close()
    called = any(call.tool == LIST_DIR.name and call.arguments is not None for call in trial.message.calls)
    screen.write(told(trial))
    if not called:
        screen.note("The model can talk, but agents with tools need one that calls them.", "alert")
    return 0 if called else 1


async def tried(provider: Provider, model: str, patience: timedelta) -> Trial:
    """The call. Raises ProviderError, also when the answer takes longer than ``patience``."""
    request = ModelRequest(
        model=model,
        system="You help a person with files. Use the tools that you have.",
        messages=(UserMessage(message_id="u1", parts=(TextPart(text=TASK),)),),
        tools=(LIST_DIR, READ_FILE),
        max_output_tokens=MOST_TOKENS,
    )
    assembler = Assembler("t1s1", model)
    began = time.monotonic()
    first = None
    pieces = 0
    try:
        async with asyncio.timeout(patience.total_seconds()), aclosing(provider.stream(request)) as stream:
            async for piece in stream:
                assembler.add(piece)
                if isinstance(piece, TextPiece | ReasoningPiece | CallPiece):
                    first = first or time.monotonic() - began
                    pieces += 1
    except TimeoutError:
        name = model.partition(":")[0]
        raise ProviderTimeoutError(name, f"no whole answer within {patience.total_seconds():g} s") from None
    whole = time.monotonic() - began
    return Trial(assembler.message(assembler.finish or "stop"), pieces, first if first is not None else whole, whole)


def told(trial: Trial) -> list[Span]:
    """What worked, line by line."""
    message = trial.message
    said_something = one_line(message.text.strip(), 200)
    usage = message.usage
    counted_tokens = f"{usage.input_tokens:,} in, {usage.output_tokens:,} out; {money(message.cost)}"
    streams = f"{trial.pieces} pieces" if trial.pieces > 1 else "the answer came in one piece"
    return [
        _line("answers", f"first piece after {trial.first:.1f} s, all after {trial.whole:.1f} s", "good"),
        _line("streams", streams, "good" if trial.pieces > 1 else "alert"),
        *([_line("text", said_something, "plain")] if said_something else []),
        _call_line(message),
        _line("usage", counted_tokens if usage.total_tokens else "not reported", "plain"),
    ]


def _call_line(message: AssistantMessage) -> Span:
    for call in message.calls:
        written = f"{plain(call.tool)} {arguments_line(call.arguments, call.arguments_text)}"
        if call.arguments is None:
            return _line("tool", f"called with arguments that are no JSON: {written}", "bad")
        if call.tool != LIST_DIR.name:
            return _line("tool", f"called another than list_dir: {written}", "bad")
        return _line("tool", f"called {written}", "good")
    return _line("tool", f"not called (finished: {message.finish})", "bad")


def _line(name: str, said: str, style: Style) -> Span:
    return Span(f"{name:<9} {said}\n", style)
