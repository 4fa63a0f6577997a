from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue
from temporalio.testing import ActivityEnvironment

from perdure.activities.authorize import AuthorizeActivity, links_on
from perdure.authority.paths import MAX_LINKS
from perdure.contracts.activities import JudgeRequest, ProposedCall
from perdure.contracts.messages import CallPart
from perdure.contracts.tools import ToolSpec

READ = ToolSpec(name="read_file", effect="read", path_arguments=("path",))
WRITE = ToolSpec(name="write_file", effect="write", path_arguments=("path",))


def request(workspace: Path, *calls: tuple[str, dict[str, JsonValue] | None]) -> JudgeRequest:
    parts = [
        CallPart(call_id=f"t1s1c{number}", tool=tool, arguments_text="{", arguments=arguments)
        for number, (tool, arguments) in enumerate(calls, 1)
    ]
    return JudgeRequest(
        run_id="r",
        calls=tuple(ProposedCall(part=part) for part in parts),
        tools=(READ, WRITE),
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
    assert facts.links == {f"{work}/notes": "../secret", f"{secret}/latest": f"{secret}/keys"}


def test_calls_that_cannot_be_read_name_no_paths(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    facts = AuthorizeActivity(home=tmp_path).facts(
        request(tmp_path, ("read_file", None), ("no_tool", {"path": "link"}), ("read_file", {"path": 5}))
    )
    assert facts.links == {}


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert links_on([f"{tmp_path.resolve()}/a/x"]) == {
        f"{tmp_path.resolve()}/a": "b",
        f"{tmp_path.resolve()}/b": "a",
    }


def test_a_long_chain_of_links_is_followed_up_to_a_bound(tmp_path: Path) -> None:
    for number in range(MAX_LINKS + 20):
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}")
    assert len(links_on([f"{tmp_path.resolve()}/l0"])) == MAX_LINKS + 1
