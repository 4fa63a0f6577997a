"""Model calls as a worker makes them, without one: scripted providers, and attempts whose heartbeats are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from temporalio.activity import ActivityCancellationDetails
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from perdure.activities.hooks import ModelHooks
from perdure.activities.model import ModelActivities, Providers
from perdure.activities.transcripts import TranscriptCache
from perdure.contracts.activities import LiveText, ModelCall
from perdure.contracts.errors import KeyMissingError
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.usage import Usage
from perdure.providers.provider import Provider
from perdure.providers.scripted import Reply, Script, ScriptedProvider
from tests.activities.runs import Run

USAGE = Usage(input_tokens=10, output_tokens=5)


class One:
    """Opens one provider for every model, and remembers the names."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.opened: list[str] = []

    def open(self, model: str) -> Provider:
        self.opened.append(model)
        return self.provider


def playing(*replies: Reply) -> One:
    return One(ScriptedProvider(Script(replies=replies)))


class Beats(ActivityEnvironment):
    """An activity environment that keeps every heartbeat, and cancels the activity at the text ``stop_at``."""

    def __init__(self, *, attempt: int = 1, left: Any = None, stop_at: str | None = None, why: Any = None) -> None:
        super().__init__()
        self.info = replace(self.info, attempt=attempt, heartbeat_details=[] if left is None else [left])
        self.live: list[LiveText] = []
        self._stop_at = stop_at
        self._why = why or ActivityCancellationDetails(cancel_requested=True)
        self.on_heartbeat = self._beat

    def _beat(self, *details: Any) -> None:
        self.live += [detail for detail in details if isinstance(detail, LiveText)]
        if self._stop_at is not None and self.live and self.live[-1].text == self._stop_at:
            self.cancel(self._why)


def activities(providers: Providers, run: Run, hooks: ModelHooks | None = None) -> ModelActivities:
    return ModelActivities(providers, TranscriptCache(run), hooks)


class Several:
    """Opens the scripted models that it is given, by name; a missing one has no key."""

    def __init__(self, **played: Script) -> None:
        self.providers = {f"scripted:{name}": ScriptedProvider(script) for name, script in played.items()}

    def open(self, model: str) -> Provider:
        if model not in self.providers:
            raise KeyMissingError(model, "SOME_KEY")
        return self.providers[model]


async def answered(model: ModelActivities, call: ModelCall) -> tuple[AssistantMessage, list[LiveText]]:
    """The answer to the call after as many attempts as it takes, with what each attempt left."""
    left: list[LiveText] = []
    for attempt in range(1, 20):
        beats = Beats(attempt=attempt, left=left[-1].model_dump(mode="json") if left else None)
        try:
            return await beats.run(model.call_model, call), left
        except ApplicationError as error:
            if error.non_retryable:
                raise
        left.append(beats.live[-1])
    raise AssertionError("the call does not end")
