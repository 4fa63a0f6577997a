"""The activity ``resolve_agent``: which agent a run is for, frozen with its tools, model, limits and workspace."""

from __future__ import annotations

from pathlib import Path

from perdure.activities.inputs import activity_named
from perdure.activities.model import Providers
from perdure.activities.posture import posture
from perdure.activities.threads import in_thread
from perdure.activities.toolbox import Toolbox
from perdure.agents.freeze import freeze
from perdure.agents.models import NamedModels, layered
from perdure.agents.shelf import AgentShelf
from perdure.contracts.activities import AgentQuery, Patience, ResolvedAgent
from perdure.contracts.agent import AgentSpec, Limits, ToolPolicy
from perdure.contracts.errors import InvalidInputError
from perdure.contracts.names import RESOLVE_AGENT
from perdure.contracts.state import RULES_VERSION


class AgentActivities:
    """Resolving agents, over the worker's shelf, tools and providers.

    ``models``, ``limits`` and ``workspace`` are the worker's own: they count where neither the start nor the agent says
    anything. ``house_policy`` is the worker's own policy, under which every agent stands. ``search_attributes``,
    ``notifications`` and ``patience`` are handed to the run as they are.
    """

    def __init__(
        self,
        shelf: AgentShelf,
        toolbox: Toolbox,
        providers: Providers,
        *,
        models: NamedModels,
        workspace: Path,
        search_attributes: bool,
        limits: Limits | None = None,
        patience: Patience | None = None,
        house_policy: tuple[ToolPolicy, ...] = (),
        notifications: bool = False,
    ) -> None:
        self._shelf = shelf
        self._toolbox = toolbox
        self._providers = providers
        self._models = models
        self._limits = limits or Limits()
        self._workspace = workspace
        self._search_attributes = search_attributes
        self._patience = patience or Patience()
        self._house_policy = house_policy
        self._notifications = notifications

    @activity_named(RESOLVE_AGENT)
    async def resolve_agent(self, query: AgentQuery) -> ResolvedAgent:
        """Find the agent, lay the start's wishes over it, check that it can work here, and freeze it.

        Fails for good, with the `Failure` in its details, when there is no such agent, tool, model, key or folder.
        """
        with posture():
            spec, workspace = await in_thread(lambda: self._found(query), name=RESOLVE_AGENT)
            models = layered(self._models, spec, query)
            for model in models.all:
                self._providers.open(model)
            limits = _layered(self._limits, spec, query)
            frozen = freeze(
                spec,
                self._toolbox.specs,
                models.default,
                limits,
                str(workspace),
                self._house_policy,
                query.output,
                fallbacks=models.fallbacks,
                models=models.purposes,
            )
            return ResolvedAgent(
                agent=frozen,
                rules_version=RULES_VERSION,
                search_attributes=self._search_attributes,
                notifications=self._notifications,
                patience=self._patience,
            )

    def _found(self, query: AgentQuery) -> tuple[AgentSpec, Path]:
        spec = self._shelf.get(query.agent) if isinstance(query.agent, str) else query.agent
        return spec, _folder(query.workspace, self._workspace)


def _layered(limits: Limits, spec: AgentSpec, query: AgentQuery) -> Limits:
    """The worker's limits, with what the agent and then the start say of single ones laid over."""
    for layer in (spec.limits, query.limits):
        if layer is not None:
            limits = limits.model_copy(update=layer.model_dump(exclude_unset=True))
    return limits


def _folder(named: str | None, default: Path) -> Path:
    try:
        folder = default / Path(named).expanduser() if named else default
        if folder.is_dir():
            return folder.resolve()
    except (OSError, RuntimeError, ValueError):
        pass  # A path that the machine cannot even look at: too long, of an unknown user, with a zero byte.
    named = named or str(default)
    raise InvalidInputError(f"The workspace {named[:200]!r} is no folder on the worker's machine. Name one that is.")
