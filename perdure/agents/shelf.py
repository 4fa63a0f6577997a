"""The agents that a worker knows: those of its folders and the built-in one, read anew each time they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

from perdure.agents.files import AgentFile, Problem, examine, parse_agent
from perdure.contracts.agent import AgentSpec
from perdure.contracts.errors import AgentFileError, UnknownAgentError
from perdure.contracts.names import DEFAULT_AGENT

NOT_AGENTS = frozenset({"readme", "changelog"})


class AgentShelf:
    """Every ``*.md`` file of the folders is an agent (a README is none); a folder that is missing holds none.

    Of two agents of one name that of the earlier folder counts; a file may replace the built-in ``assistant``. Two of
    one name in one folder are an error of both. Files are read at every question, so that an edit holds for the next
    run; a run that is going keeps what it was frozen with. A file that cannot be used is a problem, and hides no agent
    of another name.
    """

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._folders = tuple(folders)

    def get(self, name: str) -> AgentSpec:
        """The agent of that name. Raises `AgentFileError` when its file cannot be used, else `UnknownAgentError`."""
        found, _ = self._read()
        match found.get(name):
            case AgentFile(spec=spec):
                return spec
            case Problem() as problem:
                raise AgentFileError(str(problem))
            case None:
                raise UnknownAgentError(name, _usable(found))

    def names(self) -> tuple[str, ...]:
        """The names of the agents that can be used, sorted."""
        return _usable(self._read()[0])

    def files(self) -> tuple[AgentFile, ...]:
        """The agents that can be used, sorted by name, with their files; the built-in one's is a bare name."""
        found = self._read()[0]
        return tuple(agent for _, agent in sorted(found.items()) if isinstance(agent, AgentFile))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the files: errors of those that cannot be used, warnings of those that can."""
        return tuple(self._read()[1])

    def _read(self) -> tuple[dict[str, AgentFile | Problem], list[Problem]]:
        found: dict[str, AgentFile | Problem] = {}
        problems: list[Problem] = []
        for folder in self._folders:
            for name, agents in _named(folder).items():
                problems += _wrong(agents)
                if name in found:
                    said = f"Another agent is named {name!r}, and that one counts: {found[name].file}."
                    problems += [Problem(name, agent.file, 1, 1, said, severity="warning") for agent in agents]
                elif len(agents) == 1:
                    found[name] = agents[0]
                else:
                    clashes = [_clash(name, agent, agents) for agent in agents]
                    problems += clashes
                    found[name] = clashes[0]
        found.setdefault(DEFAULT_AGENT, _built_in())
        return found, problems


def _named(folder: Path) -> dict[str, list[AgentFile | Problem]]:
    """The files of a folder by the agents' names. One that cannot be used keeps its name: no other agent, with other
    tools and policy, may stand in for it unseen."""
    named: dict[str, list[AgentFile | Problem]] = {}
    for file in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        if file.stem.lower() not in NOT_AGENTS:
            agent = examine(file)
            named.setdefault(agent.spec.name if isinstance(agent, AgentFile) else agent.name, []).append(agent)
    return named


def _wrong(agents: Iterable[AgentFile | Problem]) -> Iterator[Problem]:
    for agent in agents:
        match agent:
            case Problem():
                yield agent
            case AgentFile():
                yield from agent.warnings


def _clash(name: str, agent: AgentFile | Problem, agents: Iterable[AgentFile | Problem]) -> Problem:
    others = ", ".join(str(other.file) for other in agents if other is not agent)
    return Problem(
        name, agent.file, 1, 1, f"Two agents of this folder are named {name!r}: rename this one or {others}."
    )


def _usable(found: dict[str, AgentFile | Problem]) -> tuple[str, ...]:
    return tuple(sorted(name for name, agent in found.items() if isinstance(agent, AgentFile)))


def _built_in() -> AgentFile:
    source = resources.files("perdure.agents").joinpath(f"{DEFAULT_AGENT}.md")
    return parse_agent(Path(f"{DEFAULT_AGENT}.md"), source.read_text(encoding="utf-8"))
