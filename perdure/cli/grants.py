"""Grants as the command line shows them: what is remembered, and taking it back.

A grant of one run is called ``g1`` there; in lists over runs it is written ``RUN_ID/g1``, as those of agents and users
are, so that what a list shows is what `perdure grants revoke` takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.session import Session, actor, reaching, read_settings, said
from perdure.cli.table import show_table
from perdure.cli.text import counted, lasting, one_line, plain
from perdure.client.delivery import KEPT
from perdure.client.grants import holding
from perdure.contracts.agent import ArgumentRule
from perdure.contracts.approvals import Grant
from perdure.contracts.errors import InvalidInputError, OrderRefusedError, RunNotFoundError

TITLES = ("GRANT", "FOR", "TOOL", "ARGUMENTS", "EXPIRES", "BY", "REASON")


async def list_grants(run_id: str, agent: str, user: str, *, as_json: bool) -> int:
    """Show what is remembered: in a run (read from its history), for an agent, for a user, or for all of these."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        silent: Sequence[str] = ()
        if run_id:
            found = await _in_run(session, run_id)
        elif agent:
            found = await session.client.grants.of_agent(agent)
        elif user:
            found = await session.client.grants.of_user(user)
        else:
            async with said(screen, "Asking the books of grants …"):
                remembered = await session.client.grants.of_all()
            found, silent = remembered.grants, remembered.silent
    grants = [_named(grant) for grant in found]
    if as_json:
        for grant in grants:
            screen.line(grant.model_dump_json())
    elif grants:
        now = datetime.now(UTC)
        show_table(screen, TITLES, (cells(grant, now) for grant in grants), folded=("ARGUMENTS", "REASON"))
    else:
        where = "there" if run_id or agent or user else "for agents or users"
        screen.note(f"Nothing is remembered {where}.", "plain")
    if silent:
        screen.note(
            f"{counted(len(silent), 'book')} of grants did not answer: no worker serves them now. "
            "Start one with `perdure worker`, and look again.",
            "alert",
        )
    if not (as_json or run_id or agent or user):
        screen.note("`perdure grants --run RUN_ID` shows what is remembered in one run alone.", "plain")
    return 0


async def revoke_grant(grant_id: str, run_id: str, reason: str) -> int:
    """Take a grant back: it is looked up in the run that it was made in, else among all that is remembered."""
    screen = Screen()
    async with reaching(read_settings(screen).settings, screen) as session:
        grant = await _find(session, grant_id, run_id)
        receipt = await session.client.grants.revoke(
            grant.level, grant.subject, grant.grant_id, reason=reason, actor=actor()
        )
        whose = f"{grant.level} {plain(grant.subject)}"
        screen.write((Span(f"revoked {plain(grant_id)}: {plain(grant.tool)}, for the {whose}\n"),))
        if receipt.reason == KEPT:
            screen.note(
                "No worker serves it now: it is recorded, and taken back when one comes (`perdure worker`).", "plain"
            )
        elif receipt.reason:
            screen.note(plain(receipt.reason), "plain")
    return 0


async def _find(session: Session, grant_id: str, run_id: str) -> Grant:
    origin, _, bare = grant_id.rpartition("/")
    run_id = run_id or origin
    if not run_id:
        raise InvalidInputError(
            f"In which run? Grants are named RUN_ID/{bare or 'g1'}, or with --run. `perdure grants` lists them."
        )
    try:
        made = await _in_run(session, run_id)
    except RunNotFoundError:
        # The run has left the server, and what it had remembered for others may still hold.
        made = ()
    wanted = {grant_id, bare, f"{run_id}/{bare}"}
    found = next((grant for grant in made if grant.grant_id in wanted), None)
    if found is None:
        books = await session.client.grants.of_all()
        found = next((grant for grant in books.grants if grant.grant_id == f"{run_id}/{bare}"), None)
    if found is None:
        raise OrderRefusedError(
            f"There is no grant {grant_id} of run {run_id}. "
            f"`perdure grants` and `perdure grants --run {run_id}` list them."
        )
    return found


async def _in_run(session: Session, run_id: str) -> tuple[Grant, ...]:
    state = (await session.client.history(run_id)).state
    return holding(state.grants) if state else ()


def _named(grant: Grant) -> Grant:
    """The grant with an id that is unique on the server."""
    if "/" in grant.grant_id:
        return grant
    return grant.model_copy(update={"grant_id": f"{grant.subject}/{grant.grant_id}"})


def cells(grant: Grant, now: datetime) -> tuple[str, ...]:
    """The grant under `TITLES`."""
    expires = f"in {lasting(grant.expires_at - now)}" if grant.expires_at else "never"
    whose = f"{grant.level} {grant.subject}{' and its sub-agents' if grant.children else ''}"
    return grant.grant_id, whose, grant.tool, conditions(grant), expires, grant.actor, grant.reason


def conditions(grant: Grant) -> str:
    """Which arguments a grant covers, in words."""
    if not grant.when:
        return "none" if grant.exact else "any"
    listed = ", ".join(map(_condition, grant.when))
    return f"exactly {listed}" if grant.exact else listed


def _condition(rule: ArgumentRule) -> str:
    word = "=" if rule.match == "exact" else f" {rule.match} "
    return f"{rule.argument}{word}{one_line(rule.value, 80)}"
