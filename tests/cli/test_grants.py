from __future__ import annotations

import json
from datetime import timedelta

import pytest

from perdure.cli.grants import TITLES, cells, conditions
from perdure.contracts.agent import ArgumentRule
from perdure.contracts.approvals import Grant
from perdure.testing.script import asks, says
from tests.cli.conftest import Left, Serve
from tests.cli.happenings import NOON
from tests.cli.programs import Home, until
from tests.cli.test_order import told
from tests.cli.test_start import failed
from tests.servers import unique

WRITE = asks("write_file", path="out.txt", content="text")
OTHER = asks("write_file", path="other.txt", content="text")
PREFIX = ArgumentRule(argument="path", match="prefix", value="drafts/")
SAME = ArgumentRule(argument="path", value="a.md")


@pytest.mark.parametrize(
    ("when", "exact", "said"),
    [
        ((), False, "any"),
        ((), True, "none"),
        ((SAME,), True, "exactly path=a.md"),
        ((PREFIX, SAME), False, "path prefix drafts/, path=a.md"),
    ],
)
def test_what_a_grant_covers_is_said_in_words(when: tuple[ArgumentRule, ...], exact: bool, said: str) -> None:
    grant = Grant(grant_id="g1", tool="write_file", when=when, exact=exact, granted_at=NOON)

    assert conditions(grant) == said


def test_grants_are_listed_with_whom_they_are_for_and_until_when() -> None:
    until = NOON + timedelta(hours=2)
    grant = Grant(
        grant_id="harbour/g1", tool="write_file", level="agent", subject="clerk", expires_at=until, granted_at=NOON
    )

    assert cells(grant, NOON) == ("harbour/g1", "agent clerk", "write_file", "any", "in 2 h", "", "")
    assert len(cells(grant, NOON)) == len(TITLES)


def test_a_grant_of_an_agent_holds_for_its_next_run_until_it_is_revoked(home: Home, left: Left, serve: Serve) -> None:
    agent = unique("clerk")
    run_id = left(WRITE, says("Done."), agent=agent)
    serve()
    told(
        home.run("approve", run_id, "--remember", "agent", "--any-arguments", "--reason", "harmless"),
        "To be remembered",
    )
    assert home.run("follow", run_id).returncode == 0

    until(lambda: f"{run_id}/g1" in home.run("grants").stdout)
    (grant,) = map(json.loads, home.run("grants", "--agent", agent, "--json").stdout.splitlines())
    everything = home.run("grants")
    revoked = home.run("grants", "revoke", grant["grant_id"], "--reason", "once was enough")

    assert grant["grant_id"].startswith(f"{run_id}/g1-")
    assert (grant["subject"], grant["reason"]) == (agent, "harmless")
    assert "perdure grants --run RUN_ID" in everything.stderr
    told(revoked, f"revoked {grant['grant_id']}: write_file, for the agent {agent}")
    assert home.run("grants", "--agent", agent).stderr.endswith("Nothing is remembered there.\n")
    failed(home.run("grants", "revoke", grant["grant_id"]), 2, "no grant")


def test_a_grant_of_a_run_is_seen_and_revoked_without_a_worker(home: Home, left: Left, serve: Serve) -> None:
    run_id = left(WRITE, asks("execute_command", command="touch x"), OTHER, says("Done."))
    worker = serve()
    told(home.run("approve", run_id, "--remember", "run", "--any-arguments"), "Remembered")
    assert home.run("follow", run_id).returncode == 4
    worker.terminate()
    worker.wait()

    listed = home.run("grants", "--run", run_id)
    revoked = home.run("grants", "revoke", f"{run_id}/g1")
    taken_up = home.run("approve", run_id)
    serve()

    assert f"{run_id}/g1  run {run_id}" in listed.stdout
    told(revoked, "No worker serves it now")
    assert taken_up.returncode == 0
    assert home.run("follow", run_id).returncode == 4
    assert "t1s3c1 write_file" in home.run("show", run_id).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--run", "x", "--agent", "y"], ["one of --run, --agent and --user"]),
        (["revoke", "g1"], ["In which run?", "--run"]),
        (["revoke", "run-nowhere/g1"], ["no grant", "perdure grants"]),
        (["revoke"], ["GRANT"]),
    ],
)
def test_a_grant_that_cannot_be_meant_is_refused(home: Home, arguments: list[str], words: list[str]) -> None:
    failed(home.run("grants", *arguments), 2, *words)
