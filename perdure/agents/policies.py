"""Policies as people write them, in agent files and settings: for each tool a word, or rules that are read in order.

    write_file: ask
    execute_command:
      - when: {command: {prefix: git status}}
        then: allow
      - then: always_ask
        approvers: [ada, bob]
        needed: 2

A mistake is refused and never passed over: a rule without its misspelt condition would hold for every call.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard, get_args

from perdure.contracts.agent import ApprovalRule, ArgumentRule, Match, PolicyWord, ToolPolicy
from perdure.contracts.arguments import argument_text

WORDS: tuple[PolicyWord, ...] = get_args(PolicyWord)
MATCHES: tuple[Match, ...] = get_args(Match)
RULE_KEYS = ("when", "then", "resolver", "approvers", "not_starter", "needed")
APPROVAL_KEYS = ("approvers", "not_starter", "needed")

Path = tuple[str | int, ...]


class MisfitError(ValueError):
    """What is wrong with a policy, and the keys and positions that lead there. ``of_key``: the last key itself is."""

    def __init__(self, path: Path, said: str, *, of_key: bool = False) -> None:
        super().__init__(said)
        self.path = path
        self.of_key = of_key


def read_policy(value: object) -> tuple[ToolPolicy, ...]:
    """The rules in ``value``, which is what JSON, YAML or TOML hold, in their order. Raises `MisfitError`."""
    if not isinstance(value, Mapping):
        raise MisfitError((), "should be lines of `tool: word`")
    return tuple(rule for tool, said in value.items() for rule in _rules(str(tool), said))


def misfit(rule: ToolPolicy) -> str:
    """Why a rule could never do what it says, after "a rule that …"; empty for a rule that can.

    This is what a rule that comes from elsewhere than a file is checked for too.
    """
    for test in rule.when:
        if test.match == "regex" and (fault := _bad_pattern(test.value)):
            return f"has {test.value[:40]!r} for a regular expression: {fault}"
    approval = rule.approval
    if approval and approval.approvers and len(set(approval.approvers)) < approval.needed:
        return f"needs {approval.needed} people and names {len(set(approval.approvers))}"
    return ""


def _rules(tool: str, said: object) -> Iterator[ToolPolicy]:
    if _is_word(said):
        yield ToolPolicy(tool=tool, word=said)
    elif isinstance(said, Mapping):
        yield _rule(tool, said, (tool,))
    elif isinstance(said, list) and said:
        yield from (_rule(tool, one, (tool, position)) for position, one in enumerate(said))
    else:
        raise MisfitError((tool,), f"should be {_listed(WORDS)}, or a list of rules")


def _rule(tool: str, said: object, path: Path) -> ToolPolicy:
    if not isinstance(said, Mapping):
        raise MisfitError(path, "should be a rule, such as {when: {path: {prefix: notes/}}, then: allow}")
    _known(said, RULE_KEYS, path)
    when = tuple(_tests(said["when"], (*path, "when"))) if "when" in said else ()
    word, resolver = _outcome(said, path)
    asks = resolver or word in ("ask", "always_ask")
    approval = _approval(said, path)
    if approval and not asks:
        raise MisfitError((*path, "then"), f"says {word}, and then nobody is asked who could approve")
    rule = ToolPolicy(tool=tool, word=word, when=when, resolver=resolver, approval=approval)
    if approval and (fault := misfit(rule)):
        raise MisfitError((*path, "needed"), fault)
    return rule


def _outcome(said: Mapping[str, object], path: Path) -> tuple[PolicyWord, str]:
    if ("then" in said) == ("resolver" in said):
        raise MisfitError(path, "should have either `then` or `resolver`")
    if "resolver" in said:
        resolver = said["resolver"]
        if not isinstance(resolver, str) or not resolver.strip():
            raise MisfitError((*path, "resolver"), "should be module:function, as the worker's settings list it")
        return "ask", resolver
    word = said["then"]
    if not _is_word(word):
        raise MisfitError((*path, "then"), f"should be {_listed(WORDS)}")
    return word, ""


def _tests(said: object, path: Path) -> Iterator[ArgumentRule]:
    if not isinstance(said, Mapping) or not said:
        raise MisfitError(path, "should name arguments, such as {path: {prefix: notes/}}")
    for argument, test in said.items():
        here = (*path, str(argument))
        if isinstance(test, Mapping):
            _known(test, MATCHES, here)
            if not test:
                raise MisfitError(here, f"should say {_listed(MATCHES)}")
            yield from (_test(str(argument), kind, value, (*here, kind)) for kind, value in test.items())
        else:
            yield _test(str(argument), "exact", test, here)


def _test(argument: str, kind: str, value: Any, path: Path) -> ArgumentRule:
    if kind != "exact" and not isinstance(value, str):
        raise MisfitError(path, "should be text: put it in quotes")
    if kind == "regex" and (fault := _bad_pattern(value)):
        raise MisfitError(path, f"should be a regular expression: {fault}")
    return ArgumentRule.model_validate({"argument": argument, "match": kind, "value": argument_text(value)})


def _approval(said: Mapping[str, object], path: Path) -> ApprovalRule | None:
    if not any(key in said for key in APPROVAL_KEYS):
        return None
    approvers = said.get("approvers", [])
    not_starter = said.get("not_starter", False)
    needed = said.get("needed", 1)
    if not isinstance(approvers, list) or not all(isinstance(name, str) and name.strip() for name in approvers):
        raise MisfitError((*path, "approvers"), "should be a list of people, as in [ada, bob]")
    if "approvers" in said and not approvers:
        raise MisfitError((*path, "approvers"), "is empty, so nobody could approve: leave it out for anybody")
    if not isinstance(not_starter, bool):
        raise MisfitError((*path, "not_starter"), "should be true or false")
    if not isinstance(needed, int) or isinstance(needed, bool) or needed < 1:
        raise MisfitError((*path, "needed"), "should be a whole number, 1 or more")
    return ApprovalRule(approvers=tuple(approvers), not_starter=not_starter, needed=needed)


def _known(said: Mapping[str, object], keys: Iterable[str], path: Path) -> None:
    for key in said:
        if key not in keys:
            near = difflib.get_close_matches(str(key), list(keys), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(keys)}"
            raise MisfitError((*path, str(key)), f"is unknown: {hint}", of_key=True)


def _is_word(said: object) -> TypeGuard[PolicyWord]:
    return isinstance(said, str) and said in WORDS


def _bad_pattern(pattern: str) -> str:
    try:
        re.compile(pattern, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return ""


def _listed(words: Iterable[str]) -> str:
    *first, last = (repr(word) for word in words)
    return f"{', '.join(first)} or {last}"
