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

    Of two agents of one name that of the earlier folder counts; a file may replace the built-in ``assistant``. Files
    are read at every question, so that an edit holds for the next run; a run that is going keeps what it was frozen
    with. A file that cannot be used is a problem, and hides no other agent.
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
        for file in self._files():
            match examine(file):
                case Problem() as problem:
                    problems.append(problem)
                    # It keeps its name: another agent, with other tools and policy, must not stand in for it unseen.
                    found.setdefault(file.stem, problem)
                case agent:
                    problems.extend(agent.warnings)
                    other = found.setdefault(agent.spec.name, agent)
                    if other is not agent:
                        said = f"Another agent is named {agent.spec.name!r}, and that one counts: {other.file}."
                        problems.append(Problem(file, 1, 1, said))
        found.setdefault(DEFAULT_AGENT, _built_in())
        return found, problems

    def _files(self) -> Iterator[Path]:
        for folder in self._folders:
            if folder.is_dir():
                yield from sorted(file for file in folder.glob("*.md") if file.stem.lower() not in NOT_AGENTS)


def _usable(found: dict[str, AgentFile | Problem]) -> tuple[str, ...]:
    return tuple(sorted(name for name, agent in found.items() if isinstance(agent, AgentFile)))


def _built_in() -> AgentFile:
    source = resources.files("perdure.agents").joinpath(f"{DEFAULT_AGENT}.md")
    return parse_agent(Path(f"{DEFAULT_AGENT}.md"), source.read_text(encoding="utf-8"))
