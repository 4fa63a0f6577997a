"""Redirections: the files that the shell itself opens, and what here-documents feed to a program."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from perdure.authority.capabilities import REDIRECT
from perdure.authority.commands.heredocs import heredoc
from perdure.authority.commands.recorder import UNKNOWN_STDIN, Recorder, Stdin
from perdure.authority.commands.unparsable import UnparsableError
from perdure.authority.commands.words import Words
from perdure.authority.patterns import is_literal
from perdure.authority.protected import HARMLESS_DEVICE

_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]*)")
_DUPLICATES = frozenset((">&", "<&"))
_INTO = frozenset((">", ">>", ">|", "&>", "&>>", ">&"))


@dataclass(frozen=True, slots=True)
class Followed:
    """What a redirection brings: an input, more words of the command, and statements behind a here-document."""

    stdin: Stdin | None = None
    words: tuple[Node, ...] = ()
    after: tuple[Node, ...] = ()
    piped: tuple[Node, ...] = ()


def follow(node: Node, words: Words, recorder: Recorder) -> Followed:
    """Record what the redirection does."""
    match node.type:
        case "herestring_redirect":
            text = words.one(node.named_children[-1])
            return Followed(Stdin("text", text + "\n") if is_literal(text) else UNKNOWN_STDIN)
        case "heredoc_redirect":
            return _heredoc(node, words, recorder)
        case _:
            return _file(node, words, recorder)


def _file(node: Node, words: Words, recorder: Recorder) -> Followed:
    operators = [child.type for child in node.children if not child.is_named]
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    if len(operators) != 1 or operators[0] in ("<&-", ">&-"):
        if targets or len(operators) != 1:
            raise UnparsableError("a redirection with more than one target")
        return Followed()
    if not targets:
        raise UnparsableError("a redirection without a target")
    operator, target = operators[0], targets[0]
    for word in words.of(target):
        if operator in _DUPLICATES and re.fullmatch(r"\d+-?|-", word):
            continue
        if socket := _SOCKET.match(word):
            recorder.network(socket[1], REDIRECT)
        elif operator in _INTO:
            if not HARMLESS_DEVICE.match(word):
                recorder.write(word, REDIRECT, words.scope)
        elif operator in ("<", "<&"):
            if not HARMLESS_DEVICE.match(word):
                recorder.read(word if word != "-" else "./-", REDIRECT, words.scope)
        else:
            raise UnparsableError(f"the redirection '{operator}'")
    return Followed(UNKNOWN_STDIN if operator == "<" else None, tuple(targets[1:]))


def _heredoc(node: Node, words: Words, recorder: Recorder) -> Followed:
    found = heredoc(node, words.tree.source)
    stdin: Stdin | None = Stdin("text", found.body.decode())
    extra: list[Node] = []
    after: list[Node] = []
    piped: list[Node] = []
    for child in node.named_children:
        match child.type:
            case "heredoc_start" | "heredoc_end" | "file_descriptor":
                pass
            case "heredoc_body":
                if found.expands and (child.named_children or b"\\" in found.body or b"$" in found.body):
                    stdin = UNKNOWN_STDIN
                    for part in child.named_children:
                        if part.type != "heredoc_content":
                            words.of(part)
            case "file_redirect" | "herestring_redirect" | "heredoc_redirect":
                more = follow(child, words, recorder)
                stdin = more.stdin or stdin
                extra += more.words
            case "pipeline":
                piped += child.named_children
            case "word" | "string" | "raw_string" | "concatenation" | "simple_expansion" | "expansion" | "number":
                extra.append(child)
            case "command" | "list" | "redirected_statement" | "subshell" | "compound_statement":
                after.append(child)
            case kind:
                raise UnparsableError(f"the syntax '{kind}' after a here-document")
    return Followed(stdin, tuple(extra), tuple(after), tuple(piped))
