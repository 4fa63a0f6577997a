"""Which models a run uses: what the start, the agent and the worker name, laid over each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from perdure.contracts.activities import AgentQuery
from perdure.contracts.agent import AgentSpec, Purpose


@dataclass(frozen=True, slots=True)
class NamedModels:
    """A model, those that are asked in its place when it cannot answer, and those for other purposes."""

    default: str
    fallbacks: tuple[str, ...] = ()
    purposes: dict[Purpose, str] = field(default_factory=dict)

    @property
    def all(self) -> tuple[str, ...]:
        """Every model that is named, once."""
        return tuple(dict.fromkeys((self.default, *self.fallbacks, *self.purposes.values())))


def layered(worker: NamedModels, spec: AgentSpec, query: AgentQuery) -> NamedModels:
    """The models of a run: the start's before the agent's before the worker's, purpose by purpose.

    Fallbacks belong to the model that they were named for: those that the agent or the worker names beside another
    model than the one that is used are left out, so that a run reaches no provider that nobody meant for it.
    """
    model = query.model or spec.model or worker.default
    layers = ((query.model, query.fallbacks), (spec.model, spec.fallbacks), (worker.default, worker.fallbacks))
    fitting = (named for of, named in layers if named is not None and of in (None, model))
    purposes = {**worker.purposes, **spec.models, **query.models}
    return NamedModels(model, tuple(name for name in next(fitting, ()) if name != model), purposes)
