"""Safety rules: what always asks a human, whatever mode, policy or grant says.

Rules match on capabilities, never on text. ``docs/safety-rules.md`` lists each with examples; a test reads it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from perdure.authority.capabilities import FILE_TOOL, Capability, ExecArgv, ReadPath, Unknown, WritePath
from perdure.authority.paths import MachineFacts, is_below
from perdure.authority.patterns import ANY, SPLIT, STAR, TREE, UNKNOWN, folded, is_literal, is_unknown, shown
from perdure.authority.programs import match_program
from perdure.authority.protected import (
    CONTAINER_SOCKETS,
    CONTROL,
    HARMLESS_DEVICE,
    KERNEL,
    MEMORY_DEVICES,
    RAW_DISKS,
    SCRATCH,
    SSH_SERVER,
    STARTUP,
    SYSTEM,
    covered,
    encloses_credentials,
    holds_credentials,
)
from perdure.contracts.approvals import Verdict

_CONTROL_SUFFIX = re.compile(r"\.(?:md|ya?ml|toml|json\w*|db|sqlite\w*|[^.]*[\x00-\x05][^.]*)\Z")
_HOMES = ("home", "users")
_EVERYTHING = frozenset((STAR, TREE, "." + STAR, "." + ANY + STAR, ANY, ANY + STAR, STAR + STAR, UNKNOWN, SPLIT))


@dataclass(frozen=True, slots=True)
class SafetyRule:
    """One safety rule. ``name`` is what verdicts say after ``safety:``; ``reason`` is a phrase for the human."""

    name: str
    reason: str
    matches: Callable[[Capability, MachineFacts], bool]


def judge_safety(capabilities: Iterable[Capability], facts: MachineFacts) -> Verdict | None:
    """The verdict of the first safety rule that matches, in the order of the table; None when none does."""
    listed = tuple(capabilities)
    for rule in SAFETY_RULES:
        for capability in listed:
            if rule.matches(capability, facts):
                return Verdict(decision="ask", rule=f"safety:{rule.name}", reason=f"{rule.reason}{_named(capability)}")
    return None


def _named(capability: Capability) -> str:
    match capability:
        case ReadPath(path=path) | WritePath(path=path):
            return f": {shown(path)}"
        case ExecArgv(argv=argv):
            return f": {shown(' '.join(argv))[:200]}"
        case Unknown(detail=detail):
            return f": {shown(detail)}"
        case _:
            return ""


def _deletes(capability: Capability, family: Callable[[str, MachineFacts], bool], facts: MachineFacts) -> bool:
    return (
        isinstance(capability, WritePath)
        and capability.change == "delete"
        and capability.recursive
        and any(family(path, facts) for path in _possible(capability.path))
    )


def _possible(path: str) -> tuple[str, ...]:
    """The path, and what it becomes when the variable in front of it is empty: ``$X/*`` is then ``/*``."""
    emptied = path.lstrip(UNKNOWN + SPLIT)
    return (path, emptied) if path[:1] in (UNKNOWN, SPLIT) and emptied.startswith("/") else (path,)


def _names(path: str) -> list[str]:
    return [name for name in folded(path).split("/") if name and name != "."]


def _is_root(path: str, _: MachineFacts) -> bool:
    names = _names(path)
    return path.startswith("/") and (not names or (len(names) == 1 and names[0] in _EVERYTHING))


def _is_home(path: str, facts: MachineFacts) -> bool:
    names, home = _names(path), _names(facts.home)
    if not path.startswith("/") or not names:
        return False
    if names in (["home"], ["users"], ["root"]) or names == home:
        return True
    last = names[-1] in _EVERYTHING
    if last and names[:-1] in (home, ["root"]):
        return True
    return names[0] in _HOMES and (len(names) == 2 or (len(names) == 3 and last))


def _is_current(path: str, facts: MachineFacts) -> bool:
    if is_unknown(path):
        return False
    parent, name = posixpath.split(path)
    return is_below(facts.start, path) or is_below(facts.workspace, path) or (
        name in _EVERYTHING and (is_below(facts.start, parent) or is_below(facts.workspace, parent))
    )  # fmt: skip


def _delete_root(capability: Capability, facts: MachineFacts) -> bool:
    return _deletes(capability, _is_root, facts)


def _delete_home(capability: Capability, facts: MachineFacts) -> bool:
    return _deletes(capability, _is_home, facts)


def _delete_current(capability: Capability, facts: MachineFacts) -> bool:
    return _deletes(capability, _is_current, facts)


def _delete_unknown(capability: Capability, facts: MachineFacts) -> bool:
    return _deletes(capability, lambda path, _: not path.strip(UNKNOWN + SPLIT + "/"), facts)


def _disk(capability: Capability, _: MachineFacts) -> bool:
    match capability:
        case WritePath(path=path):
            return path.startswith("/dev/") and not HARMLESS_DEVICE.match(path)
        case ReadPath(path=path, extent="content" | "tree"):
            return covered(path, RAW_DISKS)
        case ExecArgv():
            return match_program("disk", capability)
        case _:
            return False


def _kernel(capability: Capability, _: MachineFacts) -> bool:
    match capability:
        case ReadPath(path=path, extent="content" | "tree"):
            return covered(path, MEMORY_DEVICES)
        case WritePath(path=path):
            return covered(path, KERNEL) or covered(path, MEMORY_DEVICES)
        case ExecArgv(mentions=mentions):
            named = any(covered(path, MEMORY_DEVICES) for path in mentions)
            return named or match_program("kernel", capability)
        case _:
            return False


def _system_configuration(capability: Capability, facts: MachineFacts) -> bool:
    match capability:
        case WritePath(path=path):
            return _is_system(path, facts)
        case ExecArgv(mentions=mentions):
            edited = any(path.lower().startswith("/etc/") and not is_unknown(path) for path in mentions)
            return edited or match_program("system-configuration", capability)
        case _:
            return False


def _is_system(path: str, facts: MachineFacts) -> bool:
    if path.startswith(f"/{TREE}"):
        return True
    own = is_below(path, facts.workspace) or is_below(path, facts.home)
    return not own and covered(path, SYSTEM) and not covered(path, SCRATCH)


def _privilege(capability: Capability, facts: MachineFacts) -> bool:
    match capability:
        case WritePath(path=path, change="permissions", recursive=True):
            wide = _is_root(path, facts) or _is_home(path, facts) or covered(path, SYSTEM)
            return wide or covered(path + "/x", SYSTEM)
        case ReadPath(path=path, extent="content" | "tree") | WritePath(path=path):
            return covered(path, CONTAINER_SOCKETS)
        case ExecArgv(mentions=mentions):
            return any(covered(path, CONTAINER_SOCKETS) for path in mentions) or match_program("privilege", capability)
        case _:
            return False


def _firewall(capability: Capability, _: MachineFacts) -> bool:
    return isinstance(capability, ExecArgv) and match_program("firewall", capability)


def _ssh_server(capability: Capability, _: MachineFacts) -> bool:
    match capability:
        case WritePath(path=path):
            return covered(path, SSH_SERVER)
        case ExecArgv(mentions=mentions):
            return any(covered(path, SSH_SERVER) for path in mentions) or match_program("ssh-server", capability)
        case _:
            return False


def _system_packages(capability: Capability, _: MachineFacts) -> bool:
    return isinstance(capability, ExecArgv) and match_program("system-packages", capability)


def _credentials(capability: Capability, facts: MachineFacts) -> bool:
    match capability:
        case ReadPath(path=path, extent="content"):
            return holds_credentials(path)
        case ReadPath(path=path, extent="tree"):
            return holds_credentials(path) or encloses_credentials(path, facts.home)
        case WritePath(path=path):
            return holds_credentials(path)
        case ExecArgv(mentions=mentions):
            return any(holds_credentials(path) for path in mentions)
        case _:
            return False


def _startup(capability: Capability, _: MachineFacts) -> bool:
    match capability:
        case WritePath(path=path):
            return covered(path, STARTUP)
        case ExecArgv(mentions=mentions):
            return any(covered(path, STARTUP) for path in mentions) or match_program("startup", capability)
        case _:
            return False


def _control(capability: Capability, facts: MachineFacts) -> bool:
    match capability:
        case WritePath(path=path, recursive=recursive, by=by):
            wide = recursive and by != FILE_TOOL
            return _is_control(path, facts) or (wide and _encloses_control(path, facts))
        case ExecArgv(mentions=mentions):
            return any(_is_control(path, facts) for path in mentions)
        case _:
            return False


def _is_control(path: str, facts: MachineFacts) -> bool:
    name = posixpath.basename(path)
    if TREE in path and not is_literal(name) and "." in name and not _CONTROL_SUFFIX.search(name):
        return False
    if covered(path, CONTROL):
        return True
    own = tuple(own for place in facts.control_paths for own in (place, f"{place}/**"))
    return bool(own) and covered(path, own)


def _encloses_control(path: str, facts: MachineFacts) -> bool:
    return any(is_below(place, path) for place in facts.control_paths)


def _unparsable(capability: Capability, _: MachineFacts) -> bool:
    return isinstance(capability, Unknown) and capability.cause in ("syntax", "limit")


def _fork_bomb(capability: Capability, _: MachineFacts) -> bool:
    return isinstance(capability, Unknown) and capability.cause == "recursion"


SAFETY_RULES = (
    SafetyRule("delete-root", "deletes the whole file system", _delete_root),
    SafetyRule("delete-home", "deletes a home folder", _delete_home),
    SafetyRule("delete-current-folder", "deletes the current folder or the workspace", _delete_current),
    SafetyRule("delete-unknown", "deletes folders that only the run will know", _delete_unknown),
    SafetyRule("fork-bomb", "starts itself again and again", _fork_bomb),
    SafetyRule("disk", "changes disks or devices", _disk),
    SafetyRule("kernel", "changes the kernel, or reads memory", _kernel),
    SafetyRule("ssh-server", "changes who may log in to this machine", _ssh_server),
    SafetyRule("firewall", "changes the firewall", _firewall),
    SafetyRule("credentials", "touches a file that may hold credentials", _credentials),
    SafetyRule("privilege", "acts with other privileges, or hands them out", _privilege),
    SafetyRule("control-files", "changes the agent's own control files", _control),
    SafetyRule("system-packages", "changes the system's packages", _system_packages),
    SafetyRule("startup", "changes what runs on later occasions", _startup),
    SafetyRule("system-configuration", "changes the system", _system_configuration),
    SafetyRule("unparsable", "cannot be read with certainty", _unparsable),
)
