"""Variables: which assignments change what later programs do, and which values are certain.

bash evaluates the text of a variable, or of an array index in quotes, as arithmetic in more places than one expects,
and runs the substitutions in it; such places count as unknown unless everything in them is a plain name or number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from perdure.authority.commands.grammar import Tree
from perdure.authority.commands.words import Note, Scope, Words
from perdure.authority.patterns import SPLIT, is_literal

_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_SET = re.compile(r"([A-Za-z_]\w*)(\+?=)([\s\S]*)\Z")
_DANGEROUS = re.compile(
    r"(?:\w*PATH|\w*PRELOAD|LD_\w+|DYLD_\w+|BASH\w*|ENV|IFS|PS[0-4]|PROMPT\w*|SHELL|SHELLOPTS|HOME|PWD|OLDPWD"
    r"|GLOBIGNORE"
    r"|HIST\w*|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|NLSPATH|TERMINFO\w*|TERMCAP|GCONV\w*|MALLOC_\w+|GLIBC_\w+"
    r"|\w*PAGER|\w*EDITOR|VISUAL|BROWSER|LESS\w*|MORE|MANOPT|MANROFFOPT|\w+_OPTS?|\w+_OPTIONS|\w+OPTS|\w*FLAGS|\w+_ARGS"
    r"|\w+_COMMAND|\w+_CMD|\w+_SHELL|\w+_RSH|\w+_SSH|\w+_EXEC\w*|\w+_HOME|\w+_CONFIG\w*|\w+RC|\w*ASKPASS"
    r"|\w+_PROGRAM|\w+_WRAPPER|\w+_(?:PROXY|proxy)|\w+_SOCK|\w+_STARTUP|\w+_LAUNCHER|\w+_INIT\w*|GIT_(?!AUTHOR_"
    r"|COMMITTER_)\w+"
    r"|XDG_\w+|PYTHON(?!UNBUFFERED\Z|DONTWRITEBYTECODE\Z|HASHSEED\Z|IOENCODING\Z|UTF8\Z|WARNINGS\Z)\w*|PERL\w*|RUBY\w*"
    r"|GEM_\w+|BUNDLE_\w+|NODE_(?!ENV\Z)\w+|NPM_\w+|YARN_\w+|PIP_(?!NO_|DISABLE_)\w+|UV_\w+|JAVA_\w+|_JAVA\w*|JDK_\w+"
    r"|CLASSPATH|LUA_\w+|PHP\w*|TCL\w+|R_\w+|DOCKER_\w+|KUBE\w*|AWS_\w+|CLOUDSDK_\w+|GOOGLE_\w+|AZURE_\w+|SSH_\w+"
    r"|RSYNC_\w+"
    r"|TAR|TAPE|TAR_\w+|GZIP|BZIP\w*|XZ_\w+|ZIPOPT|UNZIP|MAKE\w*|CC|CXX|LD|AR|AS|CPP|RUSTC\w*|RUSTUP\w*|CARGO_\w+|GO\w+"
    r"|CURL_\w+|WGET\w*|NETRC|OPENSSL_\w+|SSL_\w+|GNUPG\w*|FUNCNEST|POSIXLY_CORRECT|COPROC|AWK\w*|JQ_\w+|GREP_\w+"
    r"|RIPGREP\w*"
    r"|FD_\w+|FZF_\w+|TMPDIR|MAIL\w*|FCEDIT|INPUTRC|READLINE\w*|EXECIGNORE|CDPATH|npm_\w+)\Z",
)
_NUMERIC_TESTS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"))
_EXTENDED_ARITHMETIC = frozenset(("<<=", "<=", ">=", "++", "--", "+=", "-="))


def _is_dangerous(name: str) -> bool:
    """Whether a variable changes what programs are found, what they load, or how the shell reads its words."""
    return bool(_DANGEROUS.match(name))


def check_name(name: str, note: Note) -> None:
    """Note the assignment of a variable that is dangerous, or whose name only the run will know."""
    if _is_dangerous(name) or not is_literal(name):
        note("environment", f"the variable {name} changes what programs do")


def assign(node: Node, words: Words, *, certain: bool) -> None:
    """Statements that only assign. A value counts only when it is surely assigned."""
    if node.type == "variable_assignments":
        for child in node.named_children:
            assign(child, words, certain=certain)
        return
    name, values, plain = _parts(node, words)
    check_name(name, words.note)
    words.scope.values[name] = values if certain and plain and len(values) == 1 and SPLIT not in values[0] else None


def prefix(node: Node, words: Words) -> None:
    """An assignment in front of a command: it holds for that command alone."""
    name, _, _ = _parts(node, words)
    check_name(name, words.note)
    words.scope.values[name] = None


def _parts(node: Node, words: Words) -> tuple[str, tuple[str, ...], bool]:
    target, value = node.named_children[0], node.named_children[1:]
    plain = target.type == "variable_name" and any(child.type == "=" for child in node.children)
    if target.type == "subscript":
        index = [words.tree.text(child) for child in target.named_children[1:]]
        if not all(text.isdigit() for text in index):
            words.note("value", "a computed array index")
        _substitutions(target, words)
        target = target.named_children[0]
    values = tuple(text for child in value for text in words.of(child)) or ("",)
    return words.tree.text(target), values, plain


def _substitutions(node: Node, words: Words) -> None:
    for child in node.children:
        if child.type in ("command_substitution", "process_substitution", "arithmetic_expansion"):
            words.of(child)
        else:
            _substitutions(child, words)


def declare(node: Node, words: Words) -> None:
    """``export``, ``declare``, ``local``, ``readonly``, ``typeset``, ``unset``."""
    keyword = node.children[0].type
    if not node.named_children and keyword != "unset":
        words.note("value", f"'{keyword}' prints every variable")
    for child in node.named_children:
        if child.type == "variable_assignment":
            assign(child, words, certain=False)
            continue
        for text in words.of(child):
            _declared(text, keyword, words)


def _declared(text: str, keyword: str, words: Words) -> None:
    if text.startswith("-"):
        if set(text[1:]) - set("xrglap" if keyword not in ("unset", "unsetenv") else "vf"):
            words.note("value", f"'{keyword} {text}' gives names another meaning")
        if "p" in text and keyword != "unset":
            words.note("value", f"'{keyword} {text}' prints every variable")
    elif _NAME.match(text):
        check_name(text, words.note)
        if keyword != "export":
            words.scope.values[text] = None
    elif found := _SET.match(text):
        check_name(found[1], words.note)
        words.scope.values[found[1]] = None
    else:
        words.note("value", f"'{keyword}' with a computed name")


def conditional(node: Node, words: Words) -> None:
    """``[ ... ]`` and ``[[ ... ]]``: nothing runs but substitutions, and arithmetic on texts."""
    extended = node.children[0].type == "[["
    for operator, operands in _tests(node, words.tree):
        texts = [text for operand in operands for text in words.of(operand)]
        numeric = operator in _NUMERIC_TESTS and (extended or operator in ("-v", "-R"))
        if numeric and not all(is_literal(text) and re.fullmatch(r"-?\d+|[A-Za-z_]\w*", text) for text in texts):
            words.note("value", f"the test '{operator}' on a value that is not in the text")
        if not extended:
            check_test(texts, words.scope, words.note)


def check_test(texts: Iterable[str], scope: Scope, note: Note) -> None:
    """Note a plain test whose words, split at run time, could turn into an operator that evaluates text."""
    run_time = any(values is None for values in scope.values.values())
    if run_time and any(SPLIT in text for text in texts):
        note("value", "an unquoted value in a test")


def _tests(node: Node, tree: Tree) -> Iterable[tuple[str, list[Node]]]:
    """Each operator in a test with its operands."""
    operands: list[Node] = []
    operator = ""
    for child in node.children:
        if child.type in ("binary_expression", "unary_expression", "parenthesized_expression", "negation_expression"):
            yield from _tests(child, tree)
        elif child.type == "test_operator":
            operator = tree.text(child)
        elif child.is_named:
            operands.append(child)
        elif child.type in _EXTENDED_ARITHMETIC:
            operator = "-eq"
    yield operator, operands


def assigned_within(bodies: Iterable[Node], tree: Tree, name: str) -> bool:
    """Whether a loop's body could give the loop's own variable another value."""
    return name in _possible_names(bodies, tree)


def forget(node: Node, words: Words) -> None:
    """Before a loop: every variable that its body could set is unknown from the first round on."""
    for name in _possible_names([node], words.tree):
        if name in words.scope.values:
            words.scope.values[name] = None


def _possible_names(nodes: Iterable[Node], tree: Tree) -> set[str]:
    """Names that are assigned, or stand as words of their own (``read x``), below the nodes."""
    found: set[str] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node.type in ("word", "raw_string") or (node.type == "variable_name" and node.parent is not None
                                                   and node.parent.type not in ("simple_expansion",
                                                   "expansion")) or node.type == "string_content":  # fmt: skip
            found.update(re.findall(r"[A-Za-z_]\w*", tree.text(node)))
        todo += node.children
    return found
