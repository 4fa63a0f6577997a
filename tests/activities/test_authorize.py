from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue
from temporalio.testing import ActivityEnvironment

from perdure.activities.authorize import AuthorizeActivity, DiskLinks
from perdure.contracts.activities import JudgeRequest, ProposedCall
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


async def test_our_own_files_are_guarded_in_every_mode(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "agents").mkdir(parents=True)
    activity = AuthorizeActivity(home=tmp_path / "home", control_paths=[work / "agents"])
    asked = request(work, ("write_file", {"path": "agents/clerk.md"}), ("run", {"command": "echo x > agents/clerk.md"}))
    asked = asked.model_copy(update={"mode": "auto"})
    judgement = await ActivityEnvironment().run(activity.authorize, asked)
    assert [verdict.verdict.rule for verdict in judgement.verdicts] == ["safety:control-files"] * 2


def test_what_cannot_be_looked_at_holds_no_links(tmp_path: Path) -> None:
    links = DiskLinks()
    for path in (str(tmp_path / "nowhere"), "a\0b", "x" * 10_000, "\ud800"):
        assert links.target(path) is None
        assert links.links_in(path) == {}
