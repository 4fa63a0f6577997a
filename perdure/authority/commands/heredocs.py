"""Here-documents, read from the source: the grammar drops leading blanks, backslashes and backticks of their bodies.

Bodies in which nothing is expanded are blanked before the text is parsed, so that no text in them can confuse the
parser; afterwards each blanked region must turn out to be such a body, else the text is parsed as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from perdure.authority.commands.unparsable import UnparsableError

MAX_BLANKED = 10
_START = re.compile(rb"(?<!<)<<(-?)[ \t]*(['\"]?)(\w+)\2[^\n]*\n")
_BLANKS = re.compile(rb"(?:[ \t]|\\\n)*\Z")
_EXPANDS = re.compile(rb"[$`\\]")
_TEXT = re.compile(rb"[^\n]")


def blanked(source: bytes) -> tuple[bytes, tuple[tuple[int, int], ...]]:
    """The source with the bodies of its here-documents blanked where nothing expands, and where they are."""
    regions: list[tuple[int, int]] = []
    position = 0
    for _ in range(MAX_BLANKED):
        if (found := _START.search(source, position)) is None:
            break
        mark, tabs = found[3], rb"\t*" if found[1] else b""
        position = found.end()
        closing = re.compile(rb"^" + tabs + mark + rb"$", re.MULTILINE).search(source, found.end())
        if closing is None:
            break
        start, end = found.end(), closing.start()
        if mark.strip(b"x") and start < end and (found[2] or not _EXPANDS.search(source, start, end)):
            regions.append((start, end))
            source = source[:start] + _TEXT.sub(b"x", source[start:end]) + source[end:]
        position = end
    return source, tuple(regions)


@dataclass(frozen=True, slots=True)
class Heredoc:
    """A here-document: its body as written, and whether expansions in it are carried out."""

    body: bytes
    start: int
    end: int
    expands: bool


def heredoc(node: Node, source: bytes) -> Heredoc:
    """Read a ``heredoc_redirect`` from the source: the grammar drops leading blanks and backticks of the body."""
    parts = {child.type: child for child in node.children}
    if "heredoc_start" not in parts or "heredoc_end" not in parts:
        raise UnparsableError("a here-document without its end")
    written = source[parts["heredoc_start"].start_byte : parts["heredoc_start"].end_byte]
    quoted = any(mark in written for mark in b"'\"\\")
    mark = re.sub(rb"['\"\\]", b"", written)
    last = max(child.end_byte for child in node.children if not child.type.startswith(("heredoc_body", "heredoc_end")))
    start = source.find(b"\n", last) + 1
    end = parts["heredoc_end"].start_byte
    body = source[start:end]
    lines = [line.lstrip(b"\t") if "<<-" in parts else line for line in body.split(b"\n")]
    follows = source[parts["heredoc_end"].end_byte : parts["heredoc_end"].end_byte + 1]
    closed = source[parts["heredoc_end"].start_byte : parts["heredoc_end"].end_byte] == mark and follows in (b"", b"\n")
    if not mark or start == 0 or start > end or mark in lines[:-1] or lines[-1] or not closed:
        raise UnparsableError("a here-document whose end is in doubt")
    if not _BLANKS.match(source[last : start - 1]):
        raise UnparsableError("text after a here-document's mark")
    return Heredoc(body, start, end, expands=not quoted)
