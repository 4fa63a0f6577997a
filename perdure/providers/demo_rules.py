"""The rules of the demo model: what it does next, from the messages and the offered tools alone."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field

from pydantic import JsonValue

from perdure.contracts.messages import AssistantMessage, CallPart, ToolMessage, UserMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.demo_words import (
    Looked,
    Reading,
    about_itself,
    about_question,
    after_writing,
    plain_summary,
    summary_file,
)
from perdure.providers.extracts import words_of

LIST, READ, WRITE = "list_dir", "read_file", "write_file"

MOST_FILES = 12
MOST_FOLDERS = 8
MOST_DEPTH = 2
MOST_LINES = 400

_SUMMARY = re.compile(r"summar|overview|digest|recap|zusammenfass|résum|resum", re.IGNORECASE)
_FILE_NAME = re.compile(r"(?<![\w/.-])((?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,7})(?![\w/])")
_TARGET = re.compile(
    r"\b(?:into|to|in|as|called|named|file|nach|als)\s+[`\"'“]?((?:[\w.-]+/)*[\w-][\w.-]*\.(?:md|txt|markdown|rst))",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?|^\s*(?:who|what|when|where|which|why|how|find|search|is|are|does|do)\b", re.IGNORECASE)
_FOLDER = re.compile(r"(?<![\w/.-])((?:[\w-][\w.-]*/)+)(?![\w.-])|\bfolder\s+[`\"']([\w./-]+)[`\"']")
_ENTRY = re.compile(r"^(?P<name>.+) \((?P<size>[\d,]+) bytes\)$")
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "dist", "build", "target", "venv"})
_NO_TEXT_SUFFIXES = """
7z a avi bin bmp bz2 class db dll doc docx eot exe flac gif gz heic ico iso jar jpeg jpg m4a mkv mov mp3 mp4 o odt ogg
otf pdf png ppt pptx pyc rar so sqlite tar tgz tif tiff ttf wasm wav webm webp whl woff woff2 xls xlsx xz zip zst
"""
_NO_TEXT = frozenset(_NO_TEXT_SUFFIXES.split())

Call = tuple[str, dict[str, JsonValue]]


@dataclass(frozen=True, slots=True)
class DemoStep:
    """What the demo says and which tools it calls; without calls the turn ends with the text."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(slots=True)
class _Turn:
    """The turn that is going on: what was asked, and every call with its result."""

    task: str = ""
    done: list[tuple[CallPart, ToolMessage]] = field(default_factory=list)

    def results(self, tool: str) -> list[tuple[str, ToolMessage]]:
        return [(_path(call), result) for call, result in self.done if call.tool == tool]


def next_step(request: ModelRequest) -> DemoStep:
    """What the demo does next. Without tools (none offered, or the last step) it answers with what it has."""
    turn = _turn_of(request)
    offered = {tool.name for tool in request.tools}
    looked = _looked(turn)
    summarises = bool(_SUMMARY.search(turn.task))
    target = _target(turn.task)
    written = turn.results(WRITE)
    if written:
        return DemoStep(after_writing(written[-1][0], written[-1][1], looked))
    if {LIST, READ} <= offered and (calls := _next_look(turn, looked, request, target)):
        return DemoStep(_announcement(turn, calls), calls)
    if summarises and (looked.listed or looked.readings):
        if WRITE in offered and looked.readings and (looked.listed or _TARGET.search(turn.task)):
            content = summary_file(looked, target)
            return DemoStep(f"I have read enough. I propose to write {target}.", ((WRITE, _write(target, content)),))
        return DemoStep(plain_summary(looked))
    if looked.readings:
        return DemoStep(about_question(turn.task, looked))
    return DemoStep(about_itself(looked))


def _turn_of(request: ModelRequest) -> _Turn:
    turn, rested, calls = _Turn(), True, dict[str, CallPart]()
    for message in request.messages:
        match message:
            case UserMessage():
                text = "\n".join(part.text for part in message.parts if part.kind == "text")
                # A message in the middle of a turn adds to the task; one after an answer begins a new turn.
                turn = _Turn(task=text) if rested else _Turn(task=f"{turn.task}\n{text}", done=turn.done)
                rested = False
            case AssistantMessage():
                calls.update({call.call_id: call for call in message.calls})
                rested = not message.calls
            case ToolMessage():
                if message.call_id in calls:
                    turn.done.append((calls[message.call_id], message))
                rested = message.status == "interrupted"
    return turn


def _path(call: CallPart) -> str:
    path = (call.arguments or {}).get("path")
    return posixpath.normpath(path) if isinstance(path, str) and path else "."


def _target(task: str) -> str:
    named = _TARGET.search(task)
    return named[1] if named else "SUMMARY.md"


def _looked(turn: _Turn) -> Looked:
    """What the turn's listings and readings have shown."""
    looked = Looked()
    for folder, result in turn.results(LIST):
        looked.listed.append(folder)
        if result.status != "ok":
            looked.failures.append(f"{folder}: {result.text}")
            continue
        for line in result.text.splitlines():
            if entry := _ENTRY.match(line):
                name = posixpath.normpath(posixpath.join(folder, entry["name"]))
                looked.files[name] = int(entry["size"].replace(",", ""))
            elif line.endswith("/") and not line.startswith("["):
                looked.folders.append(posixpath.normpath(posixpath.join(folder, line.rstrip("/"))))
    for path, result in turn.results(READ):
        if result.status == "ok":
            looked.readings.append(Reading(path, result.text, looked.files.get(path)))
        else:
            looked.failures.append(f"{path}: {result.text}")
    return looked


def _next_look(turn: _Turn, looked: Looked, request: ModelRequest, target: str) -> tuple[Call, ...]:
    """The listings or readings that come next; nothing when enough was seen."""
    if turn.results(READ):
        return ()
    summarises = bool(_SUMMARY.search(turn.task))
    named = [name for name in dict.fromkeys(_FILE_NAME.findall(turn.task)) if not (summarises and name == target)]
    if named and not looked.listed:
        return tuple(_read(name, request) for name in named[:MOST_FILES])
    if not summarises and not _about_files(turn.task):
        return ()
    if not looked.listed:
        return ((LIST, {"path": _folder(turn.task)}),)
    if summarises and (deeper := _unlisted(looked)):
        return tuple((LIST, {"path": folder}) for folder in deeper)
    chosen = _readable(looked, target) if summarises else _mentioned(turn.task, looked)
    return tuple(_read(name, request) for name in chosen[:MOST_FILES])


def _about_files(task: str) -> bool:
    """Whether a task may have to do with the folder: a greeting has not."""
    return len(words_of(task)) >= 2 or bool(re.search(r"\b(files?|folders?|director|list)\b", task, re.IGNORECASE))


def _folder(task: str) -> str:
    named = _FOLDER.search(task)
    return posixpath.normpath(named[1] or named[2]) if named else "."


def _unlisted(looked: Looked) -> list[str]:
    root = looked.listed[0]
    room = MOST_FOLDERS - len(looked.listed)
    fresh = [
        folder
        for folder in looked.folders
        if folder not in looked.listed
        and posixpath.relpath(folder, root).count("/") < MOST_DEPTH
        and not posixpath.basename(folder).startswith(".")
        and posixpath.basename(folder) not in _SKIPPED_FOLDERS
    ]
    return fresh[:room] if room > 0 else []


def _readable(looked: Looked, target: str) -> list[str]:
    names = [
        name
        for name, size in looked.files.items()
        if name != target
        and size > 0
        and not posixpath.basename(name).startswith(".")
        and name.rpartition(".")[2].lower() not in _NO_TEXT
    ]
    return sorted(names, key=lambda name: (name.count("/"), name))


def _mentioned(task: str, looked: Looked) -> list[str]:
    """The files whose names share a word with the task; after them, for a question, all others."""
    words = {word.rstrip("s") for word in words_of(task)}
    names = _readable(looked, "")
    near = [name for name in names if words & {word.rstrip("s") for word in words_of(re.sub(r"[\W_]", " ", name))}]
    return [*near, *(name for name in names if name not in near)] if _QUESTION.search(task) else near


def _read(name: str, request: ModelRequest) -> Call:
    arguments: dict[str, JsonValue] = {"path": name}
    tool = next(tool for tool in request.tools if tool.name == READ)
    known = tool.parameters.get("properties")
    if isinstance(known, dict) and "limit" in known:
        arguments["limit"] = MOST_LINES
    return READ, arguments


def _write(target: str, content: str) -> dict[str, JsonValue]:
    return {"path": target, "content": content}


def _announcement(turn: _Turn, calls: tuple[Call, ...]) -> str:
    count = len(calls)
    if calls[0][0] == READ:
        return f"Now I read {count} files." if count > 1 else f"Now I read {calls[0][1]['path']}."
    if turn.done:
        return (
            f"There are {count} folders inside; I look into them too." if count > 1 else "I look into its folder too."
        )
    return "I look at what is in the folder first."
