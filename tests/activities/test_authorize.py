from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.testing import ActivityEnvironment

from perdure.activities.authorize import AuthorizeActivity
from perdure.activities.resolvers import PolicyContext, Resolvers
from perdure.contracts.activities import JudgeRequest, ProposedCall
from perdure.contracts.agent import ToolPolicy
from perdure.contracts.approvals import Grant
from perdure.contracts.messages import CallPart
from perdure.contracts.tools import ToolSpec

READ = ToolSpec(name="read_file", effect="read", path_arguments=("path",))
RUN = ToolSpec(name="run", effect="execute", command_argument="command")
WRITE = ToolSpec(name="write_file", effect="write", path_arguments=("path",))


def request(workspace: Path, *calls: tuple[str, dict[str, JsonValue] | None]) -> JudgeRequest:
    parts = [
        CallPart(call_id=f"t1s1c{number}", tool=tool, arguments_text="{", arguments=arguments)
        for number, (tool, arguments) in enumerate(calls, 1)
    ]
    return JudgeRequest(
        run_id="r",
        calls=tuple(ProposedCall(part=part) for part in parts),
        tools=(READ, WRITE, RUN),
        workspace=str(workspace),
    )


async def test_every_call_gets_its_verdict(tmp_path: Path) -> None:
    asked = request(tmp_path, ("read_file", {"path": "a.txt"}), ("write_file", {"path": "a.txt"}), ("no_tool", {}))
    judgement = await ActivityEnvironment().run(AuthorizeActivity(home=tmp_path / "home").authorize, asked)
    assert [verdict.verdict.decision for verdict in judgement.verdicts] == ["allow", "ask", "deny"]


@pytest.mark.parametrize("path", ["a\0b", "x" * 10_000, "/" + "d/" * 5_000, "\ud800", "~nobody/x", ""])
async def test_a_path_that_no_machine_can_look_up_is_judged_all_the_same(tmp_path: Path, path: str) -> None:
    asked = request(tmp_path, ("write_file", {"path": path}), ("read_file", {"path": "a.txt"}))
    judgement = await ActivityEnvironment().run(AuthorizeActivity(home=tmp_path).authorize, asked)
    assert judgement.verdicts[0].verdict.decision != "allow"
    assert judgement.verdicts[1].verdict.decision == "allow"


def test_home_workspace_and_control_paths_are_known_with_their_links_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    activity = AuthorizeActivity(home=tmp_path / "link", user="ada", control_paths=[tmp_path / "link" / "agents"])
    facts = activity.facts(request(tmp_path / "link"))
    real = str((tmp_path / "real").resolve())
    assert (facts.home, facts.workspace, facts.user) == (real, real, "ada")
    assert facts.control_paths == (f"{real}/agents",)


def test_the_links_on_the_way_of_a_path_argument_are_known(tmp_path: Path) -> None:
    work, secret = tmp_path.resolve() / "work", tmp_path.resolve() / "secret"
    (secret / "keys").mkdir(parents=True)
    work.mkdir()
    (work / "notes").symlink_to("../secret")
    (secret / "latest").symlink_to(secret / "keys")
    facts = AuthorizeActivity(home=tmp_path).facts(request(work, ("read_file", {"path": "notes/latest/id"})))
    assert facts.links.items() >= {f"{work}/notes": "../secret", f"{secret}/latest": f"{secret}/keys"}.items()


def test_calls_that_cannot_be_read_name_no_paths(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    facts = AuthorizeActivity(home=tmp_path).facts(
        request(tmp_path, ("read_file", None), ("no_tool", {"path": "link"}), ("read_file", {"path": 5}))
    )
    assert facts.links == {}


def test_the_links_that_a_pattern_may_meet_are_known(tmp_path: Path) -> None:
    work = tmp_path.resolve() / "work"
    work.mkdir()
    (work / "note.txt").symlink_to("../secret")
    (work / "plain.txt").touch()
    facts = AuthorizeActivity(home=tmp_path).facts(request(work, ("run", {"command": "cat *.txt"})))
    assert facts.links == {f"{work}/note.txt": "../secret"}


async def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    asked = request(tmp_path, ("read_file", {"path": "a/x"}))
    judgement = await ActivityEnvironment().run(AuthorizeActivity(home=tmp_path).authorize, asked)
    assert len(judgement.verdicts) == 1


async def test_a_link_with_a_harmless_name_is_judged_as_what_it_leads_to(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".ssh").mkdir(parents=True)
    work.mkdir()
    (work / "notes").symlink_to(home / ".ssh")
    (work / "todo.txt").symlink_to("notes/id_ed25519")
    tried: list[tuple[str, dict[str, JsonValue]]] = [
        ("read_file", {"path": "notes/id_ed25519"}),
        ("read_file", {"path": "todo.txt"}),
        ("run", {"command": "cat todo*"}),
        ("run", {"command": "cat notes/../.ssh/id_ed25519"}),
    ]
    for call in tried:
        asked = request(work, call)
        (verdict,) = (await ActivityEnvironment().run(AuthorizeActivity(home=home).authorize, asked)).verdicts
        assert (verdict.verdict.decision, verdict.verdict.rule) == ("ask", "safety:credentials"), call


async def test_a_search_is_judged_by_the_files_with_credentials_that_are_there(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    asked = request(work, ("run", {"command": "grep -r KEY ."}), ("run", {"command": "cat *"}))
    judging = AuthorizeActivity(home=tmp_path / "home").authorize
    asked = asked.model_copy(update={"mode": "auto"})
    free = await ActivityEnvironment().run(judging, asked)
    assert [verdict.verdict.decision for verdict in free.verdicts] == ["allow", "allow"]
    (work / ".env").touch()
    searched, globbed = (await ActivityEnvironment().run(judging, asked)).verdicts
    assert (searched.verdict.rule, searched.verdict.firm) == ("safety:credentials", True)
    assert searched.verdict.reason.endswith("/.env.")
    assert globbed.verdict.decision == "allow"


async def test_our_own_files_are_guarded_in_every_mode(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "agents").mkdir(parents=True)
    activity = AuthorizeActivity(home=tmp_path / "home", control_paths=[work / "agents"])
    asked = request(work, ("write_file", {"path": "agents/clerk.md"}), ("run", {"command": "echo x > agents/clerk.md"}))
    asked = asked.model_copy(update={"mode": "auto"})
    judgement = await ActivityEnvironment().run(activity.authorize, asked)
    assert [verdict.verdict.rule for verdict in judgement.verdicts] == ["safety:control-files"] * 2


def granted(level: str, subject: str, **fields: Any) -> Grant:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    given = {"grant_id": f"{level}/g1", "tool": "write_file", "level": level, "subject": subject, "granted_at": at}
    return Grant.model_validate({**given, **fields})


class Book:
    """A source of grants that counts how often it is asked."""

    def __init__(self, *grants: Grant, error: Exception | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self._grants = grants
        self._error = error

    async def grants(self, agent: str, user: str) -> tuple[Grant, ...]:
        self.asked.append((agent, user))
        if self._error:
            raise self._error
        return self._grants


async def rules(folder: Path, asked: JudgeRequest, **parts: Any) -> list[str]:
    """The rules by which the calls are judged."""
    judgement = await ActivityEnvironment().run(AuthorizeActivity(home=folder / "home", **parts).authorize, asked)
    return [verdict.verdict.rule for verdict in judgement.verdicts]


def a_write(folder: Path, **fields: Any) -> JudgeRequest:
    asked = request(folder, ("write_file", {"path": "a.txt"}))
    return asked.model_copy(update={"agent": "clerk", "user": "ada", **fields})


@pytest.mark.parametrize("grant", [granted("agent", "clerk"), granted("user", "ada")])
async def test_a_grant_of_the_agent_or_the_user_is_found(tmp_path: Path, grant: Grant) -> None:
    book = Book(grant)
    assert await rules(tmp_path, a_write(tmp_path), grants=book) == ["grant"]
    assert book.asked == [("clerk", "ada")]
    assert await rules(tmp_path, a_write(tmp_path, humans="none"), grants=book) == ["grant"]


@pytest.mark.parametrize(
    "grant",
    [granted("agent", "other"), granted("user", "bob"), granted("run", "clerk"), granted("user", "")],
)
async def test_a_grant_of_somebody_else_does_not_count(tmp_path: Path, grant: Grant) -> None:
    assert await rules(tmp_path, a_write(tmp_path), grants=Book(grant)) == ["effect"]
    assert await rules(tmp_path, a_write(tmp_path, user=""), grants=Book(grant)) == ["effect"]


@pytest.mark.parametrize("error", [RuntimeError("closed"), TimeoutError()])
async def test_grants_that_cannot_be_read_do_not_count(tmp_path: Path, error: Exception) -> None:
    assert await rules(tmp_path, a_write(tmp_path), grants=Book(error=error)) == ["effect"]


async def test_grants_are_looked_up_only_where_they_may_make_a_difference(tmp_path: Path) -> None:
    book = Book(granted("agent", "clerk"))
    reading = request(tmp_path, ("read_file", {"path": "a.txt"}))
    dangerous = request(tmp_path, ("write_file", {"path": "~/.ssh/id_rsa"}))
    always = a_write(tmp_path, policy=(ToolPolicy(tool="*", word="always_ask"),))
    for asked in (reading, dangerous, always, a_write(tmp_path, mode="auto"), a_write(tmp_path, scope=())):
        await rules(tmp_path, asked, grants=book)
    assert book.asked == []


async def test_a_resolver_that_a_policy_names_is_asked(tmp_path: Path) -> None:
    def only_text_files(tool: str, arguments: dict[str, Any], context: PolicyContext) -> Any:
        return "allow" if arguments["path"].endswith(".txt") and context.user == "ada" else "deny"

    asked = request(tmp_path, ("write_file", {"path": "a.txt"}), ("write_file", {"path": "a.md"}))
    asked = asked.model_copy(update={"user": "ada", "policy": (ToolPolicy(tool="write_file", resolver="m:f"),)})
    activity = AuthorizeActivity(home=tmp_path / "home", resolvers=Resolvers({"m:f": only_text_files}))
    judgement = await ActivityEnvironment().run(activity.authorize, asked)
    assert [verdict.verdict.decision for verdict in judgement.verdicts] == ["allow", "deny"]


async def test_a_resolver_that_fails_or_is_unknown_asks_in_every_mode(tmp_path: Path) -> None:
    def fail(tool: str, arguments: dict[str, Any], context: PolicyContext) -> Any:
        raise LookupError("no rule")

    asked = a_write(tmp_path, mode="auto", policy=(ToolPolicy(tool="write_file", resolver="m:f"),))
    for resolvers in (Resolvers({"m:f": fail}), Resolvers()):
        activity = AuthorizeActivity(home=tmp_path / "home", resolvers=resolvers)
        (verdict,) = (await ActivityEnvironment().run(activity.authorize, asked)).verdicts
        assert (verdict.verdict.decision, verdict.verdict.rule, verdict.verdict.firm) == ("ask", "error", True)
