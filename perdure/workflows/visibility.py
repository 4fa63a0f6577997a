"""What operators see of a run: search attributes, current details, and a memo for times without workers.

Search attributes are written when the status changes and never otherwise: each write is an event. An attribute that the
server does not know would fail the workflow task for ever, hence ``enabled``, which the worker found out.
"""

from __future__ import annotations

from temporalio import workflow
from temporalio.common import SearchAttributeKey

from perdure.brain.details import details
from perdure.brain.ending import ended
from perdure.contracts.names import AGENT_ATTRIBUTE, STATUS_ATTRIBUTE, USER_ATTRIBUTE
from perdure.contracts.state import State

_STATUS = SearchAttributeKey.for_keyword(STATUS_ATTRIBUTE)
_AGENT = SearchAttributeKey.for_keyword(AGENT_ATTRIBUTE)
_USER = SearchAttributeKey.for_keyword(USER_ATTRIBUTE)

KEYWORD_BYTES = 255
"""Bytes of a keyword at most: the server ends a run whose attribute is larger than 2,048."""

MEMO = "perdure"


class Visibility:
    """Writes what changed, once."""

    def __init__(self, *, enabled: bool = False) -> None:
        self.enabled = enabled
        self._status = ""

    def show(self, state: State) -> None:
        """Show ``state`` to whoever looks."""
        text = details(state)
        workflow.set_current_details(text)
        if state.agent is None or state.status == self._status:
            return
        first = not self._status
        self._status = state.status
        if self.enabled:
            updates = [_STATUS.value_set(state.status)]
            if first:
                updates.append(_AGENT.value_set(_keyword(state.agent.name)))
                updates += [_USER.value_set(_keyword(state.request.user))] if state.request.user else []
            workflow.upsert_search_attributes(updates)
        if state.status != "running" and not ended(state):
            # The memo stays when the run goes on, so it says when it was true.
            workflow.upsert_memo({MEMO: f"{text}\n\nas of {workflow.now():%Y-%m-%d %H:%M} UTC"})


def _keyword(text: str) -> str:
    return text.encode()[:KEYWORD_BYTES].decode(errors="ignore")
