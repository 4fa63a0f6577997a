"""The activity ``notify``: telling people, by a command or a webhook, that something waits for them.

Whether a hook works is no matter of the run: the workflow starts this and goes on whatever comes of it. Temporal tries
again; every attempt carries the same key, and a hook that took the notification is not told again when another failed.

The trap: what a failure says stands in the history. A webhook's URL often is a secret, and what its server or a
command says may quote one, so a failure names the kind of hook, a status and the kind of error, and nothing else.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import httpx
import structlog
from temporalio import activity

from perdure.activities.builtin.environment import without_secrets
from perdure.activities.builtin.processes import run_program
from perdure.activities.inputs import activity_named
from perdure.activities.posture import posture
from perdure.contracts.activities import Notification
from perdure.contracts.errors import NotificationFailedError
from perdure.contracts.names import NOTIFY

GRACE = timedelta(seconds=1)
"""How long a command that took too long has to end by itself."""

KEY_HEADER = "Idempotency-Key"
SIGNATURE_HEADER = "Perdure-Signature"

log = structlog.get_logger(__name__)


class Hook(Protocol):
    """Somebody who is told of notifications."""

    @property
    def name(self) -> str:
        """What kind of hook it is; unique among the hooks of a worker."""
        ...

    async def tell(self, notification: Notification) -> None:
        """Hand the notification over. Raises NotificationFailedError."""
        ...


@dataclass(frozen=True, slots=True)
class CommandHook:
    """A program that gets the notification as JSON on its input, in an environment without secrets.

    Exit code 0 means that it took the notification. It runs in ``folder``, for ``patience`` at most, in a process group
    of which nothing outlives the call.
    """

    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    patience: timedelta
    name: str = "command"

    async def tell(self, notification: Notification) -> None:
        """See `Hook`."""
        environment = {**without_secrets(self.environment), "PERDURE_IDEMPOTENCY_KEY": notification.key}
        try:
            ended = await run_program(
                self.command,
                folder=self.folder,
                environment=environment,
                limit=self.patience,
                grace=GRACE,
                given=notification.model_dump_json().encode(),
            )
        except (OSError, ValueError) as error:
            why = f"it cannot be started ({type(error).__name__})"
            raise NotificationFailedError(self.name, why, retryable=False) from None
        if ended.timed_out:
            why = f"it did not end within {self.patience.total_seconds():g} s"
            raise NotificationFailedError(self.name, why, retryable=True)
        if ended.exit_code != 0:
            raise NotificationFailedError(self.name, f"it ended with exit code {ended.exit_code}", retryable=True)


@dataclass(frozen=True, slots=True)
class WebhookHook:
    """A URL that gets the notification as JSON by POST.

    Any 2xx means that it took the notification; 408, 429, 5xx, silence and a broken connection are tried again, any
    other status is final. With a ``secret`` the header ``Perdure-Signature`` holds ``sha256=`` and the HMAC of the body
    in hexadecimal. ``transport`` replaces the network.
    """

    url: str = field(repr=False)
    patience: timedelta
    secret: str = field(default="", repr=False)
    transport: httpx.AsyncBaseTransport | None = None
    name: str = "webhook"

    async def tell(self, notification: Notification) -> None:
        """See `Hook`."""
        body = notification.model_dump_json().encode()
        try:
            async with asyncio.timeout(self.patience.total_seconds()):
                status = await self._posted(body, notification.key)
        except TimeoutError:
            why = f"no answer within {self.patience.total_seconds():g} s"
            raise NotificationFailedError(self.name, why, retryable=True) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise NotificationFailedError(self.name, "its URL cannot be used", retryable=False) from None
        except httpx.HTTPError as error:
            raise NotificationFailedError(self.name, f"no answer ({type(error).__name__})", retryable=True) from None
        if not 200 <= status < 300:
            retryable = status >= 500 or status in (408, 429)
            raise NotificationFailedError(self.name, f"it answered with status {status}", retryable=retryable)

    async def _posted(self, body: bytes, key: str) -> int:
        headers = {"Content-Type": "application/json", "User-Agent": "perdure", KEY_HEADER: _header(key)}
        if self.secret:
            headers[SIGNATURE_HEADER] = f"sha256={hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()}"
        # The answer's body is of no interest, and may be endless.
        async with (
            httpx.AsyncClient(transport=self.transport, timeout=self.patience.total_seconds()) as client,
            client.stream("POST", self.url, content=body, headers=headers) as response,
        ):
            return response.status_code


class NotifyActivity:
    """Telling all hooks of a worker."""

    def __init__(self, hooks: Iterable[Hook]) -> None:
        self._hooks = tuple(hooks)

    @activity_named(NOTIFY)
    async def notify(self, notification: Notification) -> None:
        """Tell every hook that has not been told. Fails when one did not take it, for good when none ever will."""
        with posture():
            # What each hook came to is kept in heartbeats, which the next attempt reads: name -> why not, or nothing.
            settled = _settled(activity.info().heartbeat_details)
            waiting = [hook for hook in self._hooks if hook.name not in settled]
            told = _of_execution(notification, activity.info().workflow_run_id)
            failures = await asyncio.gather(*(_told(hook, told, settled) for hook in waiting))
            retryable = [failure for failure in failures if failure is not None and failure.retryable]
            if retryable:
                raise retryable[0]
            final = next(((name, why) for name, why in settled.items() if why), None)
            if final is not None:
                raise NotificationFailedError(*final, retryable=False)


def _of_execution(notification: Notification, execution_id: str | None) -> Notification:
    """The notification with a key that no other run has: the ids of runs that have ended are used again."""
    return notification.model_copy(update={"key": f"{notification.key}/{execution_id}"})


async def _told(hook: Hook, notification: Notification, settled: dict[str, str]) -> NotificationFailedError | None:
    failure = None
    try:
        await hook.tell(notification)
    except NotificationFailedError as error:
        failure = error
        log.warning("a notification failed", notification=notification.key, reason=str(error), again=error.retryable)
    if failure is None or not failure.retryable:
        settled[hook.name] = failure.why if failure else ""
        activity.heartbeat(dict(settled))
    return failure


def _settled(details: Sequence[object]) -> dict[str, str]:
    found = details[0] if details else None
    return {str(name): str(why) for name, why in found.items()} if isinstance(found, dict) else {}


def _header(text: str) -> str:
    """``text`` as a header may hold it: ids of runs are free text."""
    return quote(text, safe="/:@!$&'()*+,;=~")
