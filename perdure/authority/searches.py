"""Searches: reads that name no single file (a tree, a glob), and the files with credentials that they come upon.

By its name a tree says nothing of what is in it: that only the disk knows, and tells beforehand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

from perdure.authority.capabilities import Capability, Extent, ReadPath
from perdure.authority.patterns import (
    ANY,
    DOTSTAR,
    SPLIT,
    STAR,
    TREE,
    UNKNOWN,
    folded,
    is_literal,
    is_unknown,
    meets,
    rule_pattern,
)

DEEPEST = 32
_STARRED = str.maketrans(dict.fromkeys((STAR, ANY, "*", "?"), DOTSTAR))


def searched(capabilities: Iterable[Capability]) -> dict[str, int]:
    """The folders that are searched, each with how many names deep."""
    found: dict[str, int] = {}
    for capability in capabilities:
        match capability:
            case ReadPath(path=path, extent="content" | "tree" as extent) if path.startswith("/") and not is_unknown(
                path
            ):
                names = path.split("/")
                known = list(takewhile(is_literal, names))
                depth = DEEPEST if extent == "tree" or TREE in path else len(names) - len(known)
                if depth:
                    folder = "/".join(known) or "/"
                    found[folder] = max(depth, found.get(folder, 0))
            case _:
                pass
    return found


def come_upon(
    path: str, extent: Extent, files: Iterable[str], only: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> Iterator[str]:
    """Those of the files that a read of the path, of which parts may be open, opens.

    ``only`` are patterns of the names that are looked at (any when empty), ``without`` of those that are passed over;
    one with a slash at its end speaks of folders.
    """
    if extent == "metadata" or is_unknown(path):
        return
    for file in files:
        if _leads_to(path, file, below=extent == "tree") and _is_picked(path, file, only, without):
            yield file


def _leads_to(path: str, file: str, *, below: bool) -> bool:
    names = folded(file).split("/")
    reach = {0}
    for part in folded(path.rstrip("/")).split("/"):
        if TREE in part:
            reach = set(range(min(reach), len(names) + 1))
        else:
            reach = {at + 1 for at in reach if at < len(names) and meets(part, names[at])}
        if not reach:
            return False
    return below or len(names) in reach


def _is_picked(path: str, file: str, only: tuple[str, ...], without: tuple[str, ...]) -> bool:
    """In doubt the file is: a pattern that is not certain passes nothing over, and admits all."""
    *folders, name = file.split("/")
    inner = folders[path.rstrip("/").count("/") + 1 :] if TREE not in path else []
    for pattern in filter(is_literal, without):
        passed = inner if pattern.endswith("/") else [name]
        if any(meets(one, rule_pattern(pattern.removesuffix("/"))) for one in passed):
            return False
    return not only or any(_admits(pattern, folded(name)) for pattern in only)


def _admits(pattern: str, name: str) -> bool:
    if any(mark in pattern for mark in (UNKNOWN, SPLIT, "[", "{", "\\")):
        return True
    return meets(name, folded(pattern).translate(_STARRED))
