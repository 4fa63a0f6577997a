"""From text to a syntax tree that can be trusted.

``tree-sitter-bash`` is made for editors: it recovers from errors, joins and splits words a little differently from
bash, and loses parts of here-documents. So its tree is only believed when every byte of the text is accounted for by a
leaf that bash would read the same way; everything else counts as not parsed, and what is not parsed asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from perdure.authority.commands.density import check_density
from perdure.authority.commands.heredocs import Heredoc, blanked, heredoc
from perdure.authority.commands.unparsable import UnparsableError

MAX_BYTES = 16_384
"""Longer commands are not analysed: they ask. Bodies of here-documents in which nothing expands are not counted."""

MAX_TOTAL_BYTES = 131_072

MAX_NODES = 2_000
MAX_NESTING = 40

STATEMENT_HOLDERS = frozenset(
    (
        "program",
        "compound_statement",
        "subshell",
        "do_group",
        "if_statement",
        "elif_clause",
        "else_clause",
        "case_item",
        "command_substitution",
        "process_substitution",
        "while_statement",
    )
)
_LINE_ONLY = frozenset(("command", "variable_assignments", "declaration_command", "unset_command", "file_redirect"))
_NO_GAP = frozenset(("concatenation", "simple_expansion", "expansion", "variable_assignment", "brace_expression"))
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")
_BLANKS = re.compile(rb"(?:[ \t]|\\\n)*\Z")
_BLANK_LINES = re.compile(rb"(?:[ \t\n]|\\\n)*\Z")
_WORD = re.compile(rb"(?:[^\\\s;&|<>()'\"`$]|\\[\s\S]|\$(?![A-Za-z0-9_({'\"@*#?!$-]))+\Z")
_QUOTED = re.compile(rb"(?:[^\\\"`$]|\\[\s\S]|\$(?![A-Za-z0-9_({@*#?!$-]))*\Z")
_HEREDOC = re.compile(rb"(?:[^\\`$]|\\(?!\n)[\s\S]|\$(?![({]))*\Z")
_HIDDEN = re.compile(rb"`|\$[({\[]")
_BEFORE_COMMENT = b" \t\n;&|()"
_LANGUAGE = Language(tree_sitter_bash.language())


@dataclass(frozen=True, slots=True)
class Tree:
    """A command's syntax tree, with the bytes that its nodes point into."""

    root: Node
    source: bytes

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.source[node.start_byte : node.end_byte].decode()


def parse(text: str) -> Tree:
    """Parse one command line or script. Raises ``UnparsableError`` when its meaning is in any doubt."""
    if found := _CONTROL.search(text):
        raise UnparsableError(f"the character U+{ord(found.group()):04X} cannot be shown")
    try:
        source = text.encode()
    except UnicodeEncodeError:
        raise UnparsableError("the text is not valid Unicode") from None
    if len(source) > MAX_TOTAL_BYTES:
        raise UnparsableError(f"{len(source)} bytes, more than the {MAX_TOTAL_BYTES} that are analysed")
    plain, regions = blanked(source)
    if regions:
        try:
            root, bodies = _trusted(plain, sum(end - start for start, end in regions))
            if set(regions) <= bodies:
                return Tree(root, source)
        except UnparsableError:
            pass
    root, _ = _trusted(source, 0)
    return Tree(root, source)


def _trusted(source: bytes, inert: int) -> tuple[Node, set[tuple[int, int]]]:
    """The root of a tree of which every byte is accounted for, and where its here-documents' bodies are."""
    if len(source) - inert > MAX_BYTES:
        raise UnparsableError(f"{len(source) - inert} bytes, more than the {MAX_BYTES} that are analysed")
    check_density(source.decode())
    root = Parser(_LANGUAGE).parse(source).root_node
    if root.has_error:
        raise UnparsableError("the shell syntax is broken or not supported")
    if root.descendant_count > MAX_NODES:
        raise UnparsableError(f"{root.descendant_count} syntax nodes, more than the {MAX_NODES} that are analysed")
    if not _BLANK_LINES.match(source[: root.start_byte]) or not _BLANK_LINES.match(source[root.end_byte :]):
        raise UnparsableError("text outside of any statement")
    _check(root, source, 0)
    return root, {(found.start, found.end) for found in _heredocs(root, source)}


def _heredocs(node: Node, source: bytes) -> Iterator[Heredoc]:
    if node.type == "heredoc_redirect":
        yield heredoc(node, source)
    for child in node.children:
        yield from _heredocs(child, source)


def _check(node: Node, source: bytes, depth: int) -> None:
    if depth > MAX_NESTING:
        raise UnparsableError(f"nested more than {MAX_NESTING} deep")
    children = node.children
    if not children:
        _check_leaf(node, source)
        return
    match node.type:
        case "string":
            _check_quoted(node, source)
        case "heredoc_redirect":
            _check_heredoc(node, source)
        case "heredoc_body":
            pass
        case _:
            _check_gaps(node, source)
    for child in children:
        if child.type != "string_content":
            _check(child, source, depth + 1)


def _check_gaps(node: Node, source: bytes) -> None:
    kind, position, before = node.type, node.start_byte, None
    pattern = _BLANKS if kind in _LINE_ONLY else _BLANK_LINES
    for child in node.children:
        gap = source[position : child.start_byte]
        if gap:
            if kind in _NO_GAP or not pattern.match(gap):
                raise UnparsableError("words are not separated as bash would separate them")
            if b"\\\n" in gap:
                _check_continuation(source, position, child.start_byte)
        if kind in STATEMENT_HOLDERS and before is not None and before.is_named and child.is_named:
            joined = b"\n" not in gap.replace(b"\\\n", b"") and "comment" not in (child.type, before.type)
            if joined and "file_redirect" not in (child.type, before.type):
                raise UnparsableError("two statements with nothing between them")
        position, before = child.end_byte, child
    if not _BLANK_LINES.match(source[position : node.end_byte]):
        raise UnparsableError("text that belongs to no word")


def _check_continuation(source: bytes, start: int, end: int) -> None:
    """A backslash and a newline vanish, so ``r\\<newline>m`` is ``rm``; the grammar makes two words of it."""
    before, after = source[start - 1 : start], source[end : end + 1]
    gap = source[start:end]
    if not (gap.replace(b"\\\n", b"") or before in (b"", b"\n", b" ") or after in (b"", b"\n")):
        raise UnparsableError("a line continuation inside a word")


def _check_leaf(node: Node, source: bytes) -> None:
    text = source[node.start_byte : node.end_byte]
    match node.type:
        case "word":
            if not _WORD.match(text) or (
                text[:1] == b"#" and source[node.start_byte - 1 : node.start_byte] in b" \t\n"
            ):
                raise UnparsableError("a word that bash would read differently")
        case "raw_string":
            if len(text) < 2 or text.count(b"'") != 2 or text[:1] != b"'" or text[-1:] != b"'":
                raise UnparsableError("single quotes that do not match")
        case "ansi_c_string":
            # A plain POSIX shell ends this string at \' and would run what follows.
            if b"\\'" in text or not text.startswith(b"$'") or not text.endswith(b"'"):
                raise UnparsableError("a quote inside $'...'")
        case "comment":
            before = source[node.start_byte - 1 : node.start_byte] if node.start_byte else b" "
            if b"\n" in text or before not in _BEFORE_COMMENT:
                raise UnparsableError("a comment where bash would see none")
        case "heredoc_body" | "heredoc_content" | "heredoc_start" | "heredoc_end":
            pass
        case "string":
            if text != b'""':
                raise UnparsableError("double quotes that do not match")
        case _:
            if node.is_named and _HIDDEN.search(text):
                raise UnparsableError("a substitution in an unexpected place")


def _check_quoted(node: Node, source: bytes) -> None:
    """Check what stands between the expansions of a quoted text: nothing in it may still be one."""
    for start, end in literal_spans(node):
        if not _QUOTED.match(source[start:end]):
            raise UnparsableError("an expansion that the grammar did not see")
    if source[node.start_byte : node.start_byte + 1] != b'"' or source[node.end_byte - 1 : node.end_byte] != b'"':
        raise UnparsableError("double quotes that do not match")


def expansions_in(node: Node) -> list[Node]:
    """What stands between double quotes and is no plain text."""
    return [child for child in node.children if child.type not in ("string_content", '"')]


def literal_spans(node: Node) -> tuple[tuple[int, int], ...]:
    """The byte spans between double quotes that no expansion covers, in order: one more than there are expansions."""
    expansions = expansions_in(node)
    starts = [node.start_byte + 1, *(child.end_byte for child in expansions)]
    ends = [*(child.start_byte for child in expansions), node.end_byte - 1]
    return tuple(zip(starts, ends, strict=True))


def _check_heredoc(node: Node, source: bytes) -> None:
    found = heredoc(node, source)
    if not found.expands:
        return
    position = found.start
    for child in node.children:
        if child.type != "heredoc_body":
            continue
        for part in child.children:
            if part.type == "heredoc_content":
                continue
            if not _HEREDOC.match(source[position : part.start_byte]):
                raise UnparsableError("an expansion in a here-document that the grammar did not see")
            position = part.end_byte
    if not _HEREDOC.match(source[position : found.end]):
        raise UnparsableError("an expansion in a here-document that the grammar did not see")
