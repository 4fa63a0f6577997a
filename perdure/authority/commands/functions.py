"""Functions that a script defines: a name that means other commands from then on."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from perdure.authority.commands.grammar import Tree


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the script: its body, and the redirections that hold for each of its calls."""

    body: Node
    tree: Tree
    redirects: tuple[Node, ...] = ()
