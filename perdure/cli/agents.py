"""Showing agents: which there are, where they stand, and what is wrong with their files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from perdure.activities.builtin import builtin_tools
from perdure.activities.toolbox import load_tools
from perdure.agents.files import AgentFile, Problem
from perdure.agents.freeze import freeze
from perdure.agents.shelf import AgentShelf
from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.session import read_settings
from perdure.cli.text import counted, one_line, plain
from perdure.contracts.agent import AgentSpec
from perdure.contracts.errors import CallerError
from perdure.contracts.record import Record
from perdure.contracts.tools import ToolSpec
from perdure.providers.registry import ProviderRegistry

INHERITED = "(the run's own)"


class Found(Record):
    """An agent that was found. ``file`` is empty for the built-in one; ``tools`` None means every tool served.

    Of a file that is not ``usable`` only its name and its problems may be known.
    """

    name: str
    usable: bool = True
    description: str = ""
    file: str = ""
    model: str | None = None
    tools: tuple[str, ...] | None = None
    rules: int = 0
    problems: tuple[str, ...] = ()


async def list_agents(tools: Sequence[str], *, as_json: bool) -> int:
    """Show the agents and what is wrong with their files; 1 when one cannot be used."""
    screen = Screen()
    loaded = read_settings(screen)
    settings = loaded.settings
    providers = ProviderRegistry(settings.provider_settings, loaded.environ)
    served = load_tools((*settings.tools, *tools), builtin=builtin_tools()).specs
    shelf = AgentShelf(settings.agents)
    problems = shelf.problems
    agents = [found(agent, served, providers, problems) for agent in shelf.files()]
    listed = {agent.file for agent in agents}
    agents += [left_out(problem) for problem in problems if str(problem.file) not in listed]
    for agent in sorted(agents, key=lambda agent: agent.name):
        if as_json:
            screen.line(agent.model_dump_json())
        else:
            screen.write(described(agent))
    if not as_json:
        looked = ", ".join(str(folder) for folder in settings.agents)
        screen.note(f'\nAgent files are looked for in {plain(looked)}. Run one: perdure run --agent NAME "…"', "quiet")
    return 1 if any(problem.startswith("error: ") for agent in agents for problem in agent.problems) else 0


def found(
    agent: AgentFile, served: tuple[ToolSpec, ...], providers: ProviderRegistry, problems: Sequence[Problem]
) -> Found:
    """The agent with what is wrong with its file, or with the tools and the model that it names."""
    built_in = agent.file.parent == Path()
    warnings = [str(problem) for problem in problems if problem.file == agent.file]
    wrong = misfit(agent.spec, served, providers)
    return Found(
        name=agent.spec.name,
        usable=not wrong,
        description=agent.spec.description,
        file="" if built_in else str(agent.file),
        model=agent.spec.model,
        tools=agent.spec.tools,
        rules=len(agent.spec.policy),
        problems=(
            *(f"warning: {warning}" for warning in warnings),
            *([f"error: {agent.file}: {wrong}"] if wrong else []),
        ),
    )


def left_out(problem: Problem) -> Found:
    """A file that gives no agent, or another one of whose name counts."""
    said = f"{problem.severity}: {problem}"
    return Found(name=problem.name, usable=False, file=str(problem.file), problems=(said,))


def misfit(spec: AgentSpec, served: tuple[ToolSpec, ...], providers: ProviderRegistry) -> str:
    """Why a run of the agent could not start with these tools and providers; empty when it could."""
    try:
        freeze(spec, served, spec.model or "")
        if spec.model:
            providers.check_hosted(spec.model, spec.hosted)
    except CallerError as error:
        return str(error)
    return ""


def described(agent: Found) -> Iterator[Span]:
    """The agent in a few lines."""
    yield Span(one_line(agent.name, 200), "strong")
    yield Span(f"  {one_line(agent.description, 200)}\n" if agent.description else "\n")
    yield Span(f"  file   {one_line(agent.file, 4_096) or '(built in)'}\n")
    if agent.usable:
        yield Span(f"  model  {plain(agent.model or INHERITED)}\n")
        yield Span(f"  tools  {scope(agent.tools)}{policy(agent.rules)}\n")
    for problem in agent.problems:
        yield Span(f"  {one_line(problem, 1_000)}\n", "bad" if problem.startswith("error") else "alert")


def scope(tools: tuple[str, ...] | None) -> str:
    """The tools that an agent may call, in words."""
    if tools is None:
        return "all that are served"
    return ", ".join(map(plain, tools)) or "none"


def policy(rules: int) -> str:
    """That the agent has a policy of its own."""
    return f"; {counted(rules, 'policy rule')}" if rules else ""
