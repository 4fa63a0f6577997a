"""Logging: one form for our own lines and those of libraries, with secrets taken out of every one.

The trap: a secret comes into a log by ways that nobody planned: the text of an exception, an object's repr, a library
that logs a header. So the filter is the last step before a line is written and looks at everything in it: values that
are known to be secret, fields that are named like one, and text that has the form of a key.
"""

from __future__ import annotations

import functools
import logging
import re
import sys
from collections.abc import Mapping
from typing import IO, Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger
from temporalio.exceptions import ApplicationError
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig, TelemetryFilter

from perdure.activities.redaction import HIDDEN, KnownSecrets
from perdure.worker.settings import Settings

SHORTEST = 8
"""Characters of a secret at least: a shorter one would hide words of the language."""

SECRET_NAME = re.compile(
    r"((^|[_-])(key|pass|pat|authorization|credentials?|cookie)|apikey|token|secret|password|passwd|passphrase)$",
    re.IGNORECASE,
)
SECRET_TEXT = re.compile(
    r"(?i:\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}|\b(?:sk|pk|rk|gsk|xai|ghp|gho|AKIA|AIza)[-_]?[\w-]{16,}"
)


def secrets_of(settings: Settings, environ: Mapping[str, str]) -> frozenset[str]:
    """The values that must not be logged: those of the settings, and every variable that is named like one."""
    named = {value for name, value in environ.items() if SECRET_NAME.search(name)}
    settings_own = settings.provider_settings
    for name in settings_own.names():
        endpoint = settings_own.endpoint(name)
        if endpoint is not None and endpoint.key_variable:
            named.add(environ.get(endpoint.key_variable, ""))
    named |= {environ.get(variable, "") for variable in settings.mcp_keys.values()}
    given = (settings.api_key, settings.notify_webhook, settings.notify_secret)
    named |= {secret.get_secret_value() for secret in given if secret is not None}
    return frozenset(value.strip() for value in named if len(value.strip()) >= SHORTEST)


class Redaction:
    """A structlog processor that hides secrets in a line, however deep they are."""

    def __init__(self, known: KnownSecrets | None = None) -> None:
        self._known = known or KnownSecrets()

    def __call__(self, logger: WrappedLogger, method: str, line: EventDict) -> EventDict:
        return {self.text(str(name)): self._field(str(name), value) for name, value in line.items()}

    def text(self, text: str) -> str:
        """``text`` without secrets."""
        return SECRET_TEXT.sub(HIDDEN, self._known.text(text))

    def _field(self, name: str, value: Any) -> Any:
        hidden = SECRET_NAME.search(name) and not isinstance(value, bool | int | float | None)
        return HIDDEN if hidden else self._value(value)

    def _value(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float():
                return value
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(str(name)): self._field(str(name), item) for name, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self._value(item) for item in value]
            case _:
                return self.text(repr(value))


@functools.cache
def forward_core_logs() -> None:
    """Have the SDK's native core log through Python. By itself it writes to the error stream, past every filter.

    Holds for clients that are made afterwards.
    """
    forwarding = LogForwardingConfig(
        logging.getLogger("temporalio.core"),
        append_target_to_name=False,
        prepend_target_on_message=False,
        append_log_fields_to_message=False,
    )
    levels = TelemetryFilter(core_level="WARN", other_level="ERROR")
    telemetry = TelemetryConfig(logging=LoggingConfig(filter=levels, forwarding=forwarding))
    Runtime.set_default(Runtime(telemetry=telemetry), error_if_already_set=False)


def core_fields(logger: WrappedLogger, method: str, line: EventDict) -> EventDict:
    """A structlog processor that puts the fields of a line of the native core among the line's own."""
    core = line.pop("temporal_log", None)
    return line if core is None else {**core.fields, "target": core.target, **line}


def expected_failures(logger: WrappedLogger, method: str, line: EventDict) -> EventDict:
    """A structlog processor that tells of a failure by its words alone, where these say all: not of a fault of ours.

    Temporal's library logs every activity that fails with a whole traceback, be it a provider that is busy.
    """
    match line.get("exc_info"):
        case (_, ApplicationError(type=str(kind)) as error, _) if kind != "internal":
            return {**{name: value for name, value in line.items() if name != "exc_info"}, "error": str(error)}
        case _:
            return line


def configure_logging(settings: Settings, environ: Mapping[str, str], stream: IO[str] | None = None) -> None:
    """Have everything that is logged go to ``stream`` (default: the error stream), filtered, in the settings' form.

    Replaces what was configured before, of structlog and of the root of the standard library's loggers. To be called
    before the first Temporal client is made: see `forward_core_logs`.
    """
    forward_core_logs()
    out = stream or sys.stderr
    as_text = settings.log_format == "text" or (settings.log_format == "auto" and out.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
        core_fields,
        structlog.stdlib.PositionalArgumentsFormatter(),
    ]
    last: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        expected_failures,
        structlog.processors.format_exc_info,
        Redaction(KnownSecrets(secrets_of(settings, environ))),
        structlog.dev.ConsoleRenderer(colors=False) if as_text else structlog.processors.JSONRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=last))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # These say a line for every request.
    for chatty in ("httpx", "httpcore"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))


class Warned(logging.Handler):
    """Counts warnings and what is worse, and keeps the first as a sentence without ``secrets``."""

    def __init__(self, secrets: KnownSecrets) -> None:
        super().__init__(logging.WARNING)
        last: list[Processor] = [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            Redaction(secrets),
            _sentence,
        ]
        self.setFormatter(structlog.stdlib.ProcessorFormatter(processors=last))
        self.count = 0
        self.first = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a warning in."""
        self.count += 1
        self.first = self.first or self.format(record)


def _sentence(logger: WrappedLogger, method: str, line: EventDict) -> str:
    known = ("event", "level", "logger", "timestamp", "run_id", "message_id", "exception")
    facts = ", ".join(f"{name}: {value}" for name, value in line.items() if name not in known)
    return f"{line['event']} ({facts})" if facts else str(line["event"])
