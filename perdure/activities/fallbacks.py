"""Fallbacks: which model of a call is asked next, after what became of those that were asked.

Each attempt of the activity asks one model, so that the history stays as it is and whoever watches sees the change as a
restart. What an attempt must know of those before it travels in heartbeats. They may be lost with a worker: then the
attempt's number says which model it is at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from perdure.activities.setbacks import LONGEST, Setback, failure_of, setback, wait_after
from perdure.contracts.activities import LiveText, ModelCall
from perdure.contracts.errors import (
    KeyMissingError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    UnknownModelError,
    UnsupportedCapabilityError,
)
from perdure.contracts.failures import Failure, bounded

AT_ONCE = timedelta(milliseconds=1)
"""The wait before another model is asked: it has done nothing yet that it would have to recover from."""

NOTICED = timedelta(seconds=1)
"""A wait that a provider asks for is told from this length on."""

CARRIED = 400
"""Characters of a given-up model's message at most: they go along with every heartbeat."""

UNHEARD = Failure(
    kind="timeout",
    message="No answer came: its worker was lost.",
    attribution="operator",
    retryable=True,
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a call stands: its ``models`` in order, why the first ones were given up, and how often the next was asked.

    A model is asked ``limit`` times at most.
    """

    models: tuple[str, ...]
    limit: int
    given_up: tuple[Failure, ...] = ()
    tries: int = 0

    @classmethod
    def of(cls, call: ModelCall, number: int, live: LiveText | None) -> Standing:
        """Where ``call`` stands as its attempt ``number`` begins. ``live`` is what the attempt before left."""
        models = tuple(dict.fromkeys((call.model, *call.fallbacks)))
        if live is not None and live.model in models and len(live.given_up) < len(models):
            standing = cls(models, call.tries, live.given_up, live.tries)
        else:
            passed = min((number - 1) // call.tries, len(models) - 1)
            standing = cls(models, call.tries, (UNHEARD,) * passed, number - 1 - passed * call.tries)
        return standing._next(UNHEARD) if standing.tries >= call.tries and standing._another else standing

    @property
    def model(self) -> str:
        """The model whose turn it is."""
        return self.models[len(self.given_up)]

    @property
    def _another(self) -> bool:
        return len(self.given_up) + 1 < len(self.models)

    def asked(self) -> Standing:
        """The standing once the model is asked."""
        return replace(self, tries=self.tries + 1)

    def after(self, error: Exception, *, attempt: int, down: bool = False) -> tuple[Standing, Setback]:
        """Where the call stands after ``error``, and what the attempt comes to. ``attempt`` is its number.

        The same model is asked again while that may help and it has tries left; the next one when it may do better
        than this one, also when this one asks for a wait that is longer than any back-off, or was ``down`` before. What
        the context, a hook or we ourselves did wrong, and a refusal, no other model is asked about.
        """
        if not _is_the_models(error):
            return self, setback(error, attempt=attempt)
        failure, wait = failure_of(error), wait_after(error, attempt=self.tries)
        if failure.retryable and self.tries < self.limit and not (self._another and (down or wait > LONGEST)):
            return self, Setback(_with(failure, _wish(error)), wait)
        if self._another:
            after = self._next(failure)
            return after, Setback(_with(failure, f"The model {after.model} is asked next."), AT_ONCE)
        return self, Setback(self._last_word(failure), None)

    def _next(self, failure: Failure) -> Standing:
        carried = failure.model_copy(update={"message": _short(failure.message)})
        return replace(self, given_up=(*self.given_up, carried), tries=0)

    def _last_word(self, failure: Failure) -> Failure:
        """The failure of a call that no model answered: that of its own model, unless the run can mend another's."""
        if not self.given_up:
            return failure
        all_failures = (*self.given_up, failure)
        first = next((one for one in all_failures if one.kind == "context_too_long"), all_failures[0])
        others = zip(self.models, all_failures, strict=True)
        rest = " ".join(_sentence(f"{model}: {one.message}") for model, one in others if one is not first)
        message = bounded(f"{_sentence(first.message)} No other model answered. {rest}")
        return first.model_copy(update={"message": message})


def _short(text: str) -> str:
    return text if len(text) <= CARRIED else text[: CARRIED - 2] + " …"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _with(failure: Failure, more: str) -> Failure:
    """The failure, with another sentence to its message."""
    message = f"{_sentence(_short(failure.message))} {more}" if more else failure.message
    return failure.model_copy(update={"message": message})


def _wish(error: Exception) -> str:
    """The wait that the provider asks for, as a sentence; nothing where it asks for none that anybody would notice."""
    if not isinstance(error, ProviderError) or error.retry_after is None or error.retry_after < NOTICED:
        return ""
    seconds = f"{error.retry_after.total_seconds():.0f} s"
    if isinstance(error, RateLimitedError):
        return f"The provider limits the rate and asks for a wait of {seconds}."
    return f"The provider asks for a wait of {seconds}."


def _is_the_models(error: Exception) -> bool:
    match error:
        case RefusedError():
            return False
        case ProviderError() | KeyMissingError() | UnknownModelError() | UnsupportedCapabilityError():
            return True
        case _:
            return False
