"""What the demo model says and writes: summaries in the files' own sentences, and honest words about itself."""

from __future__ import annotations

import posixpath
from collections import Counter
from dataclasses import dataclass, field

from perdure.contracts.messages import ToolMessage
from perdure.providers.extracts import best_sentences, extract, sentences_of, words_of

HONEST = (
    "Perdure's demo model wrote this. It follows rules instead of thinking: the sentences are the files' own, "
    "chosen by counting words."
)
REAL_MODEL = (
    "For a real model set a provider's key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, or start a model server on "
    "this machine (Ollama, LM Studio, llama.cpp, vLLM), or name a model: `--model openai:gpt-5-mini`."
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One file as the read tool gave it; ``size`` in bytes, None when no listing told it."""

    path: str
    text: str
    size: int | None = None

    @property
    def note(self) -> str:
        """What the read tool said of a file that has no text to show, else ""."""
        text = self.text.strip()
        return text.strip("[]").rstrip(".") if text.startswith("[") and text.endswith("]") and "\n" not in text else ""


@dataclass(slots=True)
class Looked:
    """All that a turn has seen: folders listed and found, files with their sizes, readings, and what failed."""

    listed: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[Reading]:
        return [reading for reading in self.readings if not reading.note]


def summary_file(looked: Looked, target: str) -> str:
    """The summary that is proposed as a file."""
    root = posixpath.basename(looked.listed[0].rstrip("/.")) if looked.listed else ""
    lines = [f"# Summary of {root or 'this folder'}", "", f"_{HONEST}_", "", _counted(looked, target), ""]
    if themes := _themes(looked):
        lines += [f"Words that come up most: {', '.join(themes)}.", ""]
    for reading in looked.texts:
        lines += [*_section(reading), ""]
    left_out = _left_out(looked, target)
    if left_out:
        lines += ["## Not summarised", "", *left_out, ""]
    return "\n".join(lines).rstrip() + "\n"


def plain_summary(looked: Looked) -> str:
    """The summary as an answer, for when there is nothing to write or no way to write it."""
    if not looked.readings and not looked.files and not looked.failures:
        return f"The folder is empty: there is nothing to summarise. {REAL_MODEL}"
    if not looked.readings:
        seen = ", ".join(sorted(looked.files)[:20]) or "no files"
        failed = f" I could not look at: {'; '.join(looked.failures[:5])}." if looked.failures else ""
        return f"I found nothing that I can summarise. What is there: {seen}.{failed} {REAL_MODEL}"
    return summary_file(looked, "")


def after_writing(target: str, result: ToolMessage, looked: Looked) -> str:
    """The answer after the proposed write was settled."""
    if result.status == "ok":
        said = [f"I read {_count(len(looked.readings), 'file')} and wrote {target}. In short:", ""]
        said += [f"- {reading.path}: {_gist(reading)}" for reading in looked.texts]
        return "\n".join([*said, "", f"I am the demo model and only count words. {REAL_MODEL}"])
    reason = f": {result.text}" if result.text else ""
    outcome = "was not allowed" if result.status == "denied" else "did not work"
    return f"Writing {target} {outcome}{reason}\n\nHere is the summary instead:\n\n{summary_file(looked, target)}"


def about_question(task: str, looked: Looked) -> str:
    """The sentences of the read files that share most words with the question."""
    asked = Counter(words_of(task))
    said: list[str] = []
    for reading in looked.texts:
        sentences = sentences_of(reading.text)
        near = [sentence for sentence in sentences if set(words_of(sentence)) & set(asked)]
        if chosen := best_sentences(near, asked, 3):
            said += [f"From {reading.path}:", *(f"- {sentence}" for sentence in chosen), ""]
        elif len(looked.texts) == 1:
            said += [f"From {reading.path}:", f"- {_gist(reading)}", ""]
    if not said and looked.texts:
        said += [f"No sentence of {', '.join(reading.path for reading in looked.texts)} has words of yours in it.", ""]
    said += [f"{reading.note}." for reading in looked.readings if reading.note]
    said += [f"I could not read {failure}" for failure in looked.failures]
    said.append(f"I am the demo model: these are the files' own sentences that fit your words best. {REAL_MODEL}")
    return "\n".join(said)


def about_itself(looked: Looked) -> str:
    """What the demo is and can do, when a task is nothing for it."""
    said = (
        "I am Perdure's demo model. I follow rules instead of thinking, so I cannot do this one. I can summarise the "
        "files of a folder into a file, or find the sentences of a file that you name."
    )
    if looked.files:
        said += f" In this folder I see {', '.join(sorted(looked.files)[:20])}."
    if looked.failures:
        said += f" I could not look at: {'; '.join(looked.failures[:5])}."
    return f"{said} {REAL_MODEL}"


def _section(reading: Reading) -> list[str]:
    found = extract(reading.text, reading.path)
    size = f"{reading.size:,} bytes, " if reading.size is not None else ""
    lines = [f"## {reading.path}", "", f"{size}{_count(found.words, 'word')}, {_count(found.lines, 'line')}."]
    if found.title:
        lines[-1] = f"**{found.title}** ({lines[-1].rstrip('.')})"
    if found.remark:
        lines += ["", f"{found.remark}."]
    if found.sentences:
        lines += ["", *(f"- {sentence}" for sentence in found.sentences)]
    return lines


def _gist(reading: Reading) -> str:
    found = extract(reading.text, reading.path, most_sentences=1)
    said = [found.title, *found.sentences]
    return ". ".join(part.rstrip(".") for part in said if part) or found.remark or _count(found.words, "word")


def _counted(looked: Looked, target: str) -> str:
    found = len([name for name in looked.files if name != target])
    words = sum(extract(reading.text, reading.path).words for reading in looked.texts)
    folders = f" in {len(looked.listed)} folders" if len(looked.listed) > 1 else ""
    read = f"{len(looked.texts)} of them summarised" if found else f"{_count(len(looked.texts), 'file')} summarised"
    return (
        f"{_count(found, 'file')}{folders}, {read}, {words:,} words read."
        if found
        else f"{read}, {words:,} words read."
    )


def _themes(looked: Looked) -> list[str]:
    counted = Counter(word for reading in looked.texts for word in words_of(reading.text))
    return [word for word, count in counted.most_common(8) if count > 2]


def _left_out(looked: Looked, target: str) -> list[str]:
    summarised = {reading.path for reading in looked.texts}
    notes = {reading.path: reading.note for reading in looked.readings if reading.note}
    lines = [
        f"- {name} ({notes.get(name) or f'{size:,} bytes'})"
        for name, size in looked.files.items()
        if name not in summarised and name != target
    ]
    return lines[:50] + [f"- {failure}" for failure in looked.failures[:10]]


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
