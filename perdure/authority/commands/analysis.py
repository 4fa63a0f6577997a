"""From the text of a command to its capabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from perdure.authority.capabilities import Capability
from perdure.authority.commands.grammar import Tree, parse
from perdure.authority.commands.recorder import Recorder
from perdure.authority.commands.unparsable import UnparsableError
from perdure.authority.commands.walk import Walker
from perdure.authority.commands.words import Scope
from perdure.authority.paths import MachineFacts


@dataclass(frozen=True, slots=True)
class CommandAnalysis:
    """What a command would do. ``problem`` says why it could not be read in full, empty when it could."""

    capabilities: tuple[Capability, ...]
    problem: str = ""
    tree: Tree | None = None

    def drawn_tree(self) -> str:
        """The syntax tree, one node a line, indented; empty when the text does not parse."""
        return "\n".join(_drawn(self.tree.root, self.tree, 0)) if self.tree is not None else ""


def _drawn(node: Node, tree: Tree, depth: int) -> Iterator[str]:
    text = "" if node.named_child_count else f" {tree.text(node)!r}"
    yield f"{'  ' * depth}{node.type}{text}"
    for child in node.named_children:
        yield from _drawn(child, tree, depth + 1)


def analyse_command(text: str, facts: MachineFacts) -> CommandAnalysis:
    """Find everything that the command line would run, read, write, or contact. Never raises for bad text.

    The text is read as bash reads it when it is given to ``bash -c``. What was found before a problem is kept.
    """
    recorder = Recorder(facts)
    tree: Tree | None = None
    problem = ""
    try:
        tree = parse(text)
        recorder.count_nodes(tree.root.descendant_count)
        Walker(tree, recorder, Scope((facts.start,))).walk()
    except UnparsableError as error:
        problem = str(error)
        recorder.unknown("syntax", problem)
    except RecursionError:
        problem = "nested too deeply"
        recorder.unknown("limit", problem)
    return CommandAnalysis(tuple(recorder.found), problem, tree)
