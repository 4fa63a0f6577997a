"""What a text says, in its own sentences: title, size and the sentences that carry most, found by counting words."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass

MOST_TEXT = 64 * 1024
"""Characters of one text that are looked at, at most."""

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_RULE = re.compile(r"^[\s|:=_*+-]+$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-ZÀ-Þ0-9])")
_MARKS = re.compile(r"(\*\*|__|`|\[(?=[^\]]*\]\()|(?<=\])\([^)]*\))")
_CODE = re.compile(r"^\s*(?:def|class|async def|function|fn|func|struct|interface|type|public class)\s+(\w+)")
_CODE_SUFFIXES = frozenset(
    {"c", "cc", "cpp", "cs", "go", "h", "java", "js", "jsx", "kt", "php", "py", "rb", "rs", "sh", "swift", "ts", "tsx"}
)
_COMMON = """
a about after all also an and any are as at be been before but by can could did do does each for from get had has have
he her his how i if in into is it its just like may me more most must my new no nor not now of on one only or other our
out over per so some such than that the their them then there these they this those to too two under up us use very was
we were what when where which while who whom why will with would you your please write file files folder summary
summarise summarize
"""
COMMON_WORDS = frozenset(_COMMON.split())
"""Words that say nothing of what a text is about."""


@dataclass(frozen=True, slots=True)
class Extract:
    """What was found in one text. ``sentences`` stand in the text's own order; ``remark`` describes its form."""

    title: str
    words: int
    lines: int
    sentences: tuple[str, ...]
    remark: str = ""


def words_of(text: str) -> list[str]:
    """The words of ``text`` that say what it is about, in lower case."""
    return [word for found in _WORD.findall(text) if len(word := found.lower()) > 2 and word not in COMMON_WORDS]


def extract(text: str, name: str = "", most_sentences: int = 3) -> Extract:
    """The extract of ``text``; ``name`` is its file's name, whose ending says how to read it."""
    text = text[:MOST_TEXT]
    lines = text.splitlines()
    headings = [match[1] for line in lines if (match := _HEADING.match(line))]
    suffix = name.rpartition(".")[2].lower()
    if suffix in _CODE_SUFFIXES:
        title, sentences, remark = "", _opening_comment(lines), _code_remark(lines)
    elif suffix in ("csv", "tsv"):
        title, sentences, remark = "", (), _table_remark(lines, "\t" if suffix == "tsv" else ",")
    elif suffix == "json":
        title, sentences, remark = "", (), _json_remark(text)
    else:
        title = _plain(headings[0]) if headings else next((_plain(line) for line in lines if line.strip()), "")[:120]
        found = [sentence for sentence in sentences_of(text) if sentence != title]
        sentences, remark = (
            best_sentences(found, Counter(words_of(text)), most_sentences),
            _form_remark(lines, headings),
        )
    return Extract(title=title, words=len(text.split()), lines=len(lines), sentences=sentences, remark=remark)


def sentences_of(text: str) -> list[str]:
    """The sentences and list items of ``text``; headings, tables and rules are left out."""
    blocks: list[str] = []
    open_block = False
    for line in text[:MOST_TEXT].splitlines():
        if not line.strip() or _RULE.match(line) or _HEADING.match(line) or line.lstrip().startswith(("|", "```")):
            open_block = False
        elif open_block and not _ITEM.match(line):
            blocks[-1] += " " + line.strip()
        else:
            blocks.append(_ITEM.sub("", line).strip())
            open_block = True
    sentences = [_plain(sentence) for block in blocks for sentence in _SENTENCE_END.split(block)]
    return [sentence for sentence in sentences if len(sentence.split()) >= 4]


def best_sentences(sentences: list[str], weights: Counter[str], most: int) -> tuple[str, ...]:
    """The ``most`` sentences whose words weigh most, early ones before late ones, in the order in which they stand."""
    scored: list[tuple[float, int, str]] = []
    for position, sentence in enumerate(sentences):
        words = words_of(sentence)
        weight = sum(weights[word] for word in set(words)) / (len(words) + 4) * (1 + 0.4 / (1 + position))
        # A line without an end is a label or a list of names more often than a statement.
        weight *= 1.5 if sentence.endswith((".", "!", "?")) else 1.0
        scored.append((-weight, position, _bounded(sentence)))
    chosen = sorted(scored)[:most]
    return tuple(sentence for _, _, sentence in sorted(chosen, key=lambda entry: entry[1]))


def _plain(line: str) -> str:
    return _MARKS.sub("", _HEADING.sub(r"\1", line)).replace("]", "").strip() if line else ""


def _bounded(sentence: str) -> str:
    return sentence if len(sentence) <= 280 else sentence[:277].rstrip() + " …"


def _form_remark(lines: list[str], headings: list[str]) -> str:
    rows = [line for line in lines if line.lstrip().startswith("|") and not _RULE.match(line)]
    said = []
    if len(headings) > 1:
        said.append("Sections: " + ", ".join(_plain(heading) for heading in headings[1:7]))
    if rows:
        columns = [_plain(cell) for cell in rows[0].strip().strip("|").split("|")]
        said.append(f"A table of {len(rows) - 1} rows: {', '.join(column for column in columns if column)}")
    return ". ".join(said)


def _table_remark(lines: list[str], separator: str) -> str:
    rows = [line for line in lines if line.strip()]
    if not rows:
        return ""
    columns = [cell.strip().strip('"') for cell in rows[0].split(separator)]
    return f"A table of {len(rows) - 1} rows: {', '.join(columns[:12])}"


def _json_remark(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "JSON, not whole or not valid"
    if isinstance(value, dict):
        return f"A JSON object with {', '.join(list(map(str, value))[:12])}" if value else "An empty JSON object"
    return f"A JSON list of {len(value)}" if isinstance(value, list) else "One JSON value"


def _opening_comment(lines: list[str]) -> tuple[str, ...]:
    for line in lines[:20]:
        said = line.strip().strip("\"'/*#!").strip()
        if said and line.strip().startswith(('"', "'", "/", "*", "#")) and not line.startswith("#!"):
            return (_bounded(said),)
    return ()


def _code_remark(lines: list[str]) -> str:
    names = [match[1] for line in lines if (match := _CODE.match(line))]
    return f"Defines {', '.join(names[:10])}{' …' if len(names) > 10 else ''}" if names else ""
