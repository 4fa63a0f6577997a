"""Transcripts by reference: what a model call needs of its run, from this worker's memory or from the run itself.

A model call's input names a revision and a digest instead of carrying the messages, so that each stands in the history
once. The run answers the query while it waits for the very call that asks: some 10 ms when a worker has it cached. The
digest chain tells whether what came is what the run meant: a query can answer from a half-replayed run, and memory can
hold a reply that the run never took.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from temporalio.client import Client

from perdure.contracts.activities import ModelCall
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.digests import START, extend_digest
from perdure.contracts.errors import TranscriptUnavailableError
from perdure.contracts.messages import Message
from perdure.contracts.names import TRANSCRIPT
from perdure.contracts.state import TranscriptPage

MAX_BYTES = 64 * 1024 * 1024
RPC_TIMEOUT = timedelta(seconds=5)
"""A query of a run whose workflow task fails hangs to this end, and then is tried again by Temporal."""


class TranscriptSource(Protocol):
    """Where pages of transcripts come from."""

    async def page(self, call: ModelCall, start: int) -> TranscriptPage:
        """The messages of the call's run from index ``start`` on, as many as fit a page.

        Raises TranscriptUnavailableError.
        """
        ...


class RunQuery:
    """Asks the run itself, by the query ``transcript``."""

    def __init__(self, client: Client, *, rpc_timeout: timedelta = RPC_TIMEOUT) -> None:
        self._client = client
        self._rpc_timeout = rpc_timeout

    async def page(self, call: ModelCall, start: int) -> TranscriptPage:
        """See `TranscriptSource`."""
        handle = self._client.get_workflow_handle(call.run_id, run_id=call.execution_id)
        try:
            page: TranscriptPage = await handle.query(
                TRANSCRIPT, {"start": start}, result_type=TranscriptPage, rpc_timeout=self._rpc_timeout
            )
        except Exception as error:
            # Whichever way a query fails, and also when its answer cannot be read: asking again is the remedy.
            raise TranscriptUnavailableError(call.run_id, f"{type(error).__name__}: {error}") from error
        return page


@dataclass(frozen=True, slots=True)
class Transcript:
    """The first messages of a run. ``digests[n]`` is the digest of the first n; ``size`` is about the bytes of all."""

    agent: FrozenAgent
    messages: tuple[Message, ...] = ()
    digests: tuple[str, ...] = (START,)
    size: int = 0

    @property
    def revision(self) -> int:
        """How many messages there are."""
        return len(self.messages)

    def holds(self, call: ModelCall) -> bool:
        """Whether this begins with the transcript that the call means."""
        return self.revision >= call.revision and self.digests[call.revision] == call.digest

    def extended(self, messages: Iterable[Message]) -> Transcript:
        """This transcript with further messages."""
        added, digests, size = tuple(messages), list(self.digests), self.size
        for message in added:
            digests.append(extend_digest(digests[-1], message))
            size += len(message.model_dump_json())
        return Transcript(self.agent, (*self.messages, *added), tuple(digests), size)

    def cut(self, revision: int) -> Transcript:
        """The first ``revision`` messages of this transcript."""
        return Transcript(self.agent).extended(self.messages[:revision]) if revision < self.revision else self


class TranscriptCache:
    """The transcripts that this worker used last, up to ``max_bytes`` in all. One cache serves one event loop."""

    def __init__(self, source: TranscriptSource, *, max_bytes: int = MAX_BYTES) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._held: OrderedDict[str, Transcript] = OrderedDict()

    @property
    def size(self) -> int:
        """About how many bytes are held."""
        return sum(transcript.size for transcript in self._held.values())

    async def fetch(self, call: ModelCall) -> tuple[FrozenAgent, tuple[Message, ...]]:
        """The agent of the call's run and the messages that the call is about.

        Fetches only what is not held. Raises TranscriptUnavailableError, also when what the run answers is not what
        the call means.
        """
        held = self._held.get(call.run_id)
        transcript = await self._completed(held, call)
        if not transcript.holds(call) and held is not None:
            self._held.pop(call.run_id, None)
            transcript = await self._completed(None, call)
        if not transcript.holds(call):
            raise TranscriptUnavailableError(call.run_id, f"its digest at revision {call.revision} is another one")
        self._keep(call.run_id, transcript)
        return transcript.agent, transcript.messages[: call.revision]

    def append(self, call: ModelCall, message: Message) -> None:
        """Remember the reply to the call, as the run will append it."""
        held = self._held.get(call.run_id)
        if held is not None and held.holds(call):
            self._keep(call.run_id, held.cut(call.revision).extended((message,)))

    async def _completed(self, transcript: Transcript | None, call: ModelCall) -> Transcript:
        while transcript is None or transcript.revision < call.revision:
            start = transcript.revision if transcript else 0
            page = await self._source.page(call, start)
            agent = transcript.agent if transcript else page.agent
            messages = page.messages[: call.revision - start]
            if page.start != start or agent is None or (not messages and start < call.revision):
                raise TranscriptUnavailableError(
                    call.run_id, f"it ends at revision {page.revision}, and revision {call.revision} is asked for"
                )
            transcript = (transcript or Transcript(agent)).extended(messages)
        return transcript

    def _keep(self, run_id: str, transcript: Transcript) -> None:
        self._held[run_id] = transcript
        self._held.move_to_end(run_id)
        total = self.size
        while total > self._max_bytes:
            _, oldest = self._held.popitem(last=False)
            total -= oldest.size
