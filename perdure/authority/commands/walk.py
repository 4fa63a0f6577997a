"""Walks a syntax tree in the order in which a shell would run it, and finds every program that would run.

Both branches of every condition count, a loop's body counts once, and a folder that may have changed counts twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tree_sitter import Node

from perdure.authority.commands import assignments, launch, redirects
from perdure.authority.commands.developer import is_version_query
from perdure.authority.commands.functions import Function
from perdure.authority.commands.grammar import Tree, parse
from perdure.authority.commands.handlers import handler_of
from perdure.authority.commands.recorder import NO_STDIN, UNKNOWN_STDIN, Invocation, Recorder, Stdin
from perdure.authority.commands.unparsable import UnparsableError
from perdure.authority.commands.words import Scope, Words
from perdure.authority.patterns import SPLIT, UNKNOWN, is_literal

MAX_DEPTH = 12
MAX_CHAIN = 16
_KEYWORDS = frozenset((
    "{", "}", "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "select", "in",
    "function", "[[", "]]", "!", "((", "))",
))  # fmt: skip
_TRANSPARENT = frozenset(("list", "do_group", "elif_clause", "else_clause", "if_statement", "negated_command"))
_NOTHING: Mapping[str, tuple[str, ...]] = {}
_REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))


@dataclass(slots=True)
class Walker:
    """Walks one tree. Nested texts get walkers of their own, with the same recorder."""

    tree: Tree
    recorder: Recorder
    scope: Scope
    functions: dict[str, Function] = field(default_factory=dict)
    depth: int = 0
    branches: int = 0
    chain: int = 0
    active: tuple[str, ...] = ()
    output: Stdin = UNKNOWN_STDIN

    def walk(self, stdin: Stdin = NO_STDIN) -> None:
        """Find everything that the tree would do."""
        self._all(self.tree.root.children, stdin)

    @property
    def words(self) -> Words:
        """The reader of this tree's words."""
        return Words(self.tree, self.recorder.facts, self.scope, self._substitution, self.recorder.unknown)

    def run(self, argv: Sequence[str], stdin: Stdin) -> None:
        """Analyse a program by its name; see ``Shell``."""
        self.recorder.count_run()
        self.output = UNKNOWN_STDIN
        if not argv:
            return
        name, words = argv[0], tuple(argv[1:])
        if not is_literal(name) or not name:
            launch.unknown(argv, stdin, self)
            return
        call = Invocation(launch.program(name, self), words, stdin)
        self.chain += 1
        if self.chain > MAX_CHAIN:
            raise UnparsableError(f"more than {MAX_CHAIN} programs that start each other")
        if is_version_query(call):
            self.recorder.executes_freely(call)
        elif (handler := handler_of(call.program)) is not None:
            handler(call, self)
        else:
            self.recorder.executes(call, self.scope)
        self.chain -= 1

    def run_here(self, argv: Sequence[str], stdin: Stdin) -> None:
        """Analyse a command that the shell itself runs; see ``Shell``. A function may be unset: its name counts too."""
        name = argv[0] if argv else ""
        if name in _KEYWORDS:
            raise UnparsableError(f"the keyword '{name}' where a command is expected")
        if (function := self.functions.get(name)) is not None:
            self.recorder.count_run()
            self._call(name, function, stdin)
        self.run(argv, stdin)

    def script(self, text: str, stdin: Stdin) -> None:
        """Analyse text that a new shell runs; see ``Shell``."""
        self._nested(text, stdin, Scope(self.scope.folders), {})

    def evaluate(self, text: str, stdin: Stdin, scope: Scope) -> None:
        """Analyse text that this shell runs; see ``Shell``."""
        self._nested(text, stdin, scope, self.functions)

    def emits(self, output: Stdin) -> None:
        """Note what the last program writes; see ``Shell``."""
        self.output = output

    def _nested(self, text: str, stdin: Stdin, scope: Scope, functions: dict[str, Function]) -> None:
        if not is_literal(text):
            self.recorder.unknown("code", "shell text that only the run will know")
            return
        if self.depth >= MAX_DEPTH:
            raise UnparsableError(f"shells nested more than {MAX_DEPTH} deep")
        tree = parse(text)
        self.recorder.count_nodes(tree.root.descendant_count)
        depth, branches = self.depth + 1, self.branches + 1
        Walker(tree, self.recorder, scope, functions, depth, branches, active=self.active).walk(stdin)

    def _substitution(self, node: Node) -> None:
        outward = node.children[0].type == ">("
        output = self.output
        with self._subshell():
            self._all(node.named_children, UNKNOWN_STDIN if outward else NO_STDIN)
        self.output = output

    @contextmanager
    def _subshell(self) -> Iterator[None]:
        """What is settled in here does not hold afterwards."""
        scope, functions = self.scope, self.functions
        self.scope, self.functions = scope.copy(), dict(functions)
        yield
        self.scope, self.functions = scope, functions

    def _all(self, nodes: Iterable[Node], stdin: Stdin) -> None:
        for node in nodes:
            if node.is_named:
                self._visit(node, stdin)

    def _branch(self, nodes: Iterable[Node], stdin: Stdin) -> None:
        self.branches += 1
        self._all(nodes, stdin)
        self.branches -= 1

    def _visit(self, node: Node, stdin: Stdin) -> None:
        match node.type:
            case "comment":
                pass
            case "command":
                self._command(node, stdin, ())
            case "redirected_statement":
                self._redirected(node, stdin)
            case "file_redirect":
                redirects.follow(node, self.words, self.recorder)
            case "pipeline":
                self._pipeline([child for child in node.children if child.is_named], stdin)
            case "subshell":
                with self._subshell():
                    self._all(node.named_children, stdin)
            case "compound_statement" if node.children[0].type == "{":
                self._all(node.children, stdin)
            case "compound_statement" | "c_style_for_statement":
                self.recorder.unknown("value", "arithmetic on a value that is not in the text")
                self._loop(node, [child for child in node.named_children if child.type == "do_group"], stdin)
                for child in node.children:
                    if child.type != "do_group":
                        self.words.nested(child)
            case "while_statement":
                self._loop(node, node.named_children, stdin)
            case "for_statement":
                self._for(node, stdin)
            case "case_statement":
                self._case(node, stdin)
            case "function_definition":
                self._define(node)
            case "test_command":
                assignments.conditional(node, self.words)
            case "variable_assignment" | "variable_assignments":
                assignments.assign(node, self.words, certain=self.branches == 0)
            case "declaration_command" | "unset_command":
                assignments.declare(node, self.words)
            case kind if kind in _TRANSPARENT:
                first = node.named_children[:1] if kind == "list" else []
                self._all(first, stdin)
                self._branch([child for child in node.named_children if child not in first], stdin)
            case kind:
                raise UnparsableError(f"the syntax '{kind}' where a command is expected")

    def _command(self, node: Node, stdin: Stdin, extra: Sequence[Node]) -> None:
        reader = self.words
        argv: list[str] = []
        named = any(child.type == "command_name" for child in node.children)
        for child in (*node.children, *extra):
            if child.type in _REDIRECTS:
                found = redirects.follow(child, reader, self.recorder)
                stdin = found.stdin or stdin
                if found.after or found.piped:
                    raise UnparsableError("a here-document in front of its command")
                for more in found.words:
                    argv += reader.of(more)
            elif child.type == "variable_assignment":
                if named:
                    assignments.prefix(child, reader)
                else:
                    assignments.assign(child, reader, certain=False)
            elif child.is_named or child.type == "$":
                argv += (word for word in reader.of(child) if word or child.type != "$")
            elif child.type in ("==", "=~"):
                argv.append(child.type)
            else:
                raise UnparsableError(f"the token '{child.type}' inside a command")
        if argv:
            self.run_here(argv, stdin)

    def _redirected(self, node: Node, stdin: Stdin) -> None:
        body = next((child for child in node.named_children if child.type not in _REDIRECTS), None)
        followed = self._followed(node)
        stdin = next((found.stdin for found in reversed(followed) if found.stdin), stdin)
        extra = [word for found in followed for word in found.words]
        if body is not None and body.type == "command":
            self._command(body, stdin, extra)
        elif extra:
            raise UnparsableError("words after a redirection")
        elif body is not None:
            # The grammar gives the redirection of a list's last command to the list: it may open after a 'cd'.
            self._visit(body, stdin)
            self._followed(node)
        if piped := [stage for found in followed for stage in found.piped]:
            self._pipeline(piped, self.output if body is not None and body.type == "command" else UNKNOWN_STDIN)
        self._branch([statement for found in followed for statement in found.after], NO_STDIN)

    def _followed(self, node: Node) -> list[redirects.Followed]:
        return [
            redirects.follow(child, self.words, self.recorder) for child in node.children if child.type in _REDIRECTS
        ]

    def _pipeline(self, stages: Sequence[Node], stdin: Stdin) -> None:
        if any(stage.type == "pipeline" for stage in stages):
            stages = [
                part for stage in stages for part in (stage.named_children if stage.type == "pipeline" else [stage])
            ]
        for stage in stages:
            self.output = UNKNOWN_STDIN
            with self._subshell():
                self._visit(stage, stdin)
            stdin = self.output if stage.type == "command" else UNKNOWN_STDIN

    def _loop(
        self, node: Node, parts: Iterable[Node], stdin: Stdin, bound: Mapping[str, tuple[str, ...]] = _NOTHING
    ) -> None:
        """Walk a body that may run again: what it settles is not certain from the first round on."""
        before = self.scope.folders
        assignments.forget(node, self.words)
        self.scope.values.update(bound)
        self._branch(parts, stdin)
        if self.scope.folders != before:
            self.scope.folders = (UNKNOWN,)
            self.recorder.unknown("value", "a loop that changes the current folder")

    def _for(self, node: Node, stdin: Stdin) -> None:
        bodies = [child for child in node.named_children if child.type in ("do_group", "compound_statement")]
        variable, *listed = [child for child in node.named_children if child not in bodies and child.type != "comment"]
        name = self.tree.text(variable)
        values = tuple(word for child in listed for word in self.words.of(child))
        assignments.check_name(name, self.recorder.unknown)
        known = listed and all(SPLIT not in value for value in values)
        self.scope.values[name] = None
        certain = known and not assignments.assigned_within(bodies, self.tree, name)
        self._loop(node, bodies, stdin, {name: values} if certain else {})
        self.scope.values[name] = None

    def _case(self, node: Node, stdin: Stdin) -> None:
        for child in node.named_children:
            if child.type != "case_item":
                self.words.of(child)
                continue
            closing = next(index for index, part in enumerate(child.children) if part.type == ")")
            for part in child.children[:closing]:
                if part.is_named:
                    self.words.of(part)
            self._branch(child.children[closing + 1 :], stdin)

    def _define(self, node: Node) -> None:
        name = self.tree.text(node.named_children[0])
        body = node.named_children[1]
        outer = tuple(child for child in node.named_children[2:] if child.type in _REDIRECTS)
        self.functions[name] = Function(body, self.tree, outer)
        with self._subshell():
            self._call(name, self.functions[name], UNKNOWN_STDIN)

    def _call(self, name: str, function: Function, stdin: Stdin) -> None:
        if name in self.active:
            self.recorder.unknown("recursion", f"the function '{name}' calls itself")
            return
        tree, active = self.tree, self.active
        self.tree, self.active = function.tree, (*active, name)
        for redirect in function.redirects:
            redirects.follow(redirect, self.words, self.recorder)
        self._branch([function.body], stdin)
        self.tree, self.active = tree, active
