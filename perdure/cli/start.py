"""Starting a run: what the command line asks for is checked before anything is started."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from perdure.agents.bounded import read_bounded
from perdure.agents.files import MOST_BYTES, read_agent
from perdure.agents.freeze import freeze
from perdure.agents.models import layered
from perdure.cli.attend import Conduct
from perdure.cli.exits import say
from perdure.cli.follow import Follower
from perdure.cli.hints import how_to_go_on, unserved
from perdure.cli.hosting import serving_runs
from perdure.cli.lines import Span
from perdure.cli.screen import Screen
from perdure.cli.session import Session, actor, desk, read_settings, watching
from perdure.cli.streams import take_output
from perdure.cli.text import plain
from perdure.cli.waiting import waiting_of
from perdure.client.attachments import attachment
from perdure.client.rpc import rpc_errors
from perdure.client.serving import lacks_worker
from perdure.contracts.activities import AgentQuery
from perdure.contracts.agent import AgentSpec, Humans, Limits, Mode
from perdure.contracts.decode import decode
from perdure.contracts.errors import InvalidInputError, RunAlreadyRunningError, ServerUnavailableError
from perdure.contracts.names import DEFAULT_AGENT
from perdure.contracts.requests import RunRequest
from perdure.contracts.schemas import Schema, schema_fault
from perdure.providers.choice import Choice
from perdure.worker.parts import Parts, gather_parts, named_models
from perdure.worker.queues import own_queue
from perdure.worker.settings import Settings


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What ``perdure run`` was asked for."""

    task: str
    agent: str = DEFAULT_AGENT
    model: str | None = None
    fallbacks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    output_schema: str | None = None
    workspace: str | None = None
    run_id: str | None = None
    steps: int | None = None
    mode: Mode = "manual"
    humans: Humans = "available"
    conversation: bool = False
    join: bool = False
    yes: bool = False
    as_json: bool = False


async def run_task(options: RunOptions) -> int:
    """Start the run, follow it, and return the exit code."""
    screen = Screen(take_output()) if options.as_json else Screen()
    if not options.task.strip():
        raise InvalidInputError('The task is empty. Say what the agent should do: perdure run "…".')
    loaded = read_settings(screen, {"model": options.model, "workspace": options.workspace})
    tools = tuple(path for path in options.tools if path not in loaded.settings.tools)
    settings = loaded.settings.model_copy(update={"tools": (*loaded.settings.tools, *tools)})
    parts = await gather_parts(settings, loaded.environ)
    agent, choice = chosen_agent(options, parts)
    spec = parts.shelf.get(agent) if isinstance(agent, str) else agent
    check_models(options, settings, parts, spec, choice)
    freeze(spec, parts.toolbox.specs, choice.model, limits=settings.limits, workspace=str(settings.workspace))
    asked = request(options, settings, agent, choice)
    first = f"model {plain(choice.model)} ({plain(choice.why)})"
    if options.as_json:
        screen.note(first)
    else:
        screen.write((Span(first + "\n", "quiet"),))
    async with serving_runs(settings, parts, screen, own_queue(settings)) as session:
        run_id = await started(session, options, asked, screen)
        conduct = Conduct(actor(), yes=options.yes, stops_turn=True, as_json=options.as_json, tools=tools)
        return await followed(session, run_id, screen, conduct)


def chosen_agent(options: RunOptions, parts: Parts) -> tuple[str | AgentSpec, Choice]:
    """The agent (a name that the worker knows, or what stands in a file) and its model.

    Raises UnknownAgentError, AgentFileError.
    """
    from_file = options.agent.endswith(".md")
    agent = read_agent(Path(options.agent)).spec if from_file else options.agent
    spec = agent if isinstance(agent, AgentSpec) else parts.shelf.get(agent)
    if options.model:
        return agent, Choice(options.model, "named with --model")
    if spec.model:
        return agent, Choice(spec.model, f"named by the agent {spec.name}")
    return agent, parts.choice


def check_models(options: RunOptions, settings: Settings, parts: Parts, spec: AgentSpec, choice: Choice) -> None:
    """Check the models of the run, fallbacks included: a run that is started takes its id, even when it fails at once.

    Raises UnknownModelError, KeyMissingError, UnsupportedCapabilityError.
    """
    query = AgentQuery(run_id="", agent=spec, model=choice.model, fallbacks=options.fallbacks or None)
    for model in layered(named_models(settings, parts.choice), spec, query).all:
        parts.providers.open(model)
    parts.providers.check_hosted(choice.model, spec.hosted)


def request(options: RunOptions, settings: Settings, agent: str | AgentSpec, choice: Choice) -> RunRequest:
    """The start request. Model and workspace are written out: whoever takes the run up may have others by default."""
    return RunRequest(
        message=options.task,
        attachments=tuple(map(attachment, options.attachments)),
        agent=agent,
        model=choice.model,
        fallbacks=options.fallbacks or None,
        output=read_schema(options.output_schema) if options.output_schema else None,
        limits=Limits(steps=options.steps) if options.steps else None,
        mode=options.mode,
        humans=options.humans,
        conversation=options.conversation,
        idle_timeout=settings.idle_timeout,
        workspace=str(settings.workspace.absolute()),
        user=actor(),
        trigger="cli",
    )


def read_schema(path: str) -> Schema:
    """The JSON Schema in a file. Raises InvalidInputError."""
    try:
        text = read_bounded(Path(path), MOST_BYTES)
        if len(text) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
        schema = decode(text.decode())
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InvalidInputError(f"The output schema {path!r} cannot be read: {why}.") from None
    if not isinstance(schema, dict):
        raise InvalidInputError(
            f"The output schema {path!r} must be a JSON object, such as a model_json_schema() gives."
        )
    if fault := schema_fault(schema):
        raise InvalidInputError(f"{path}: {fault}")
    return schema


async def started(session: Session, options: RunOptions, asked: RunRequest, screen: Screen) -> str:
    """The id of the run that was started, or joined when it runs already and that was asked for."""
    try:
        async with session.answered():
            run_id = await session.client.start(asked, run_id=options.run_id)
    except RunAlreadyRunningError as error:
        if not options.join:
            raise
        run_id = error.run_id
        screen.note(f"Run {run_id} is running already: following it.")
    else:
        screen.note(f"run {run_id}")
    return run_id


async def followed(session: Session, run_id: str, screen: Screen, conduct: Conduct) -> int:
    """Follow the run, show how it ended, where to look, and what to do next; return the exit code.

    A person at the terminal is asked, unless the events are for a program. Raises RunNotFoundError, OperatorError.
    """
    conduct = conduct if conduct.as_json else replace(conduct, desk=desk(screen))
    with keeping(session, run_id, screen, conduct.tools):
        ending = await Follower(
            session.client, run_id, screen, conduct, looking_after(session, run_id, conduct.tools)
        ).follow()
    link = session.link(run_id)
    if link and conduct.as_json:
        screen.note(f"ui   {link}")
    elif link:
        screen.write((Span(f"ui   {link}\n"),))
    screen.out.file.flush()
    if ending.hint:
        screen.note(ending.hint, "plain")
    if ending.error:
        say(f"error: {ending.error}")
    return int(ending.code)


def looking_after(
    session: Session, run_id: str, tools: tuple[str, ...]
) -> Callable[[Callable[[str], None]], Coroutine[object, object, None]]:
    """Looks after the server of a run that is followed, and says when nothing happens for want of a worker."""

    async def look(say: Callable[[str], None]) -> None:
        if session.serves:
            return
        with rpc_errors(session.client.address, run_id):
            if not await lacks_worker(session.temporal, run_id):
                return
        state = await (await session.client.history(run_id)).foreseen()
        # What waits for people is told as such, and how it goes on with it.
        if state is None or not (state.status == "idle" or waiting_of(state)):
            say(unserved(run_id, tools))

    async def both(say: Callable[[str], None]) -> None:
        await asyncio.gather(watching(session)(say), look(say))

    return both


@contextmanager
def keeping(session: Session, run_id: str, screen: Screen, tools: tuple[str, ...]) -> Iterator[None]:
    """A block whose ServerUnavailableError leaves a run that is kept: how it goes on is said."""
    try:
        with session.advised():
            yield
    except ServerUnavailableError:
        screen.note(how_to_go_on(run_id, tools), "plain")
        raise
