"""The in-process engine: the same loop as a real run, without a server, for tests that take milliseconds.

It carries out the brain's instructions with asyncio: a scripted model, the real context pipeline, the real authority
and plain functions as tools. Time is a counter that jumps to whatever the run waits for, so an idle conversation ends
at once. Of outcomes that are ready together, the one whose work began first is taken first: equal runs are equal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, assert_never

from perdure.activities.calling import run_tool
from perdure.activities.functions import tool_from
from perdure.activities.toolbox import Toolbox
from perdure.agents.files import read_agent
from perdure.agents.freeze import freeze
from perdure.agents.models import NamedModels, layered
from perdure.authority.judge import judge
from perdure.authority.paths import MachineFacts
from perdure.brain.clock import wake_at
from perdure.brain.ending import ended
from perdure.brain.inputs import agent_query, call_context, judge_request
from perdure.brain.loop import Advance, Loop
from perdure.brain.narrate import narrate
from perdure.brain.results import STOPPED, call_result, tool_result
from perdure.contracts.agent import AgentSpec
from perdure.contracts.errors import PerdureError, UnknownAgentError
from perdure.contracts.events import DurableEvent
from perdure.contracts.instructions import (
    AskHumans,
    AuthorizeCalls,
    CallModel,
    CallTools,
    Finish,
    Instruction,
    RememberGrant,
    ResolveAgent,
    SettleCalls,
    StopWork,
)
from perdure.contracts.messages import AssistantMessage
from perdure.contracts.outcomes import (
    AgentRejected,
    AgentResolved,
    AnyOutcome,
    CallsJudged,
    CallsSettled,
    CancelReceived,
    ClockReached,
    ModelFailure,
    ModelReply,
    Received,
)
from perdure.contracts.requests import Cancel, RunRequest
from perdure.contracts.state import RULES_VERSION, Call, State
from perdure.providers.scripted import Script, ScriptedProvider
from perdure.testing.attempts import ModelAttempts
from perdure.testing.mismatch import mismatch
from perdure.testing.orders import Moment, Planned
from perdure.testing.record import RunRecord

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(milliseconds=1)
"""How far the clock goes with each outcome."""

MODEL = "scripted:script"
"""The model that an agent has when neither it nor the request names one."""

MACHINE = MachineFacts(home="/home/user", workspace="/home/user/workspace", user="user")
"""The machine that calls are judged for, unless another is given."""


@dataclass(frozen=True, slots=True)
class _Work:
    """Work in hand. ``stopped`` is its outcome when it was stopped before it could give one."""

    task: asyncio.Task[AnyOutcome]
    stopped: AnyOutcome | None = None

    def outcome(self) -> AnyOutcome:
        return self.stopped if self.stopped and self.task.cancelled() else self.task.result()


async def run_in_process(
    request: RunRequest | str,
    *,
    script: Script,
    tools: Toolbox | Iterable[Callable[..., Any]] = (),
    agents: Iterable[AgentSpec | Path] = (AgentSpec(),),
    orders: Sequence[Planned] = (),
    run_id: str = "run",
    machine: MachineFacts = MACHINE,
    partly: bool = False,
) -> RunRecord:
    """Run an agent in this process until it ends, or until it waits for people and no order is left to give.

    ``request`` may be the message alone. ``tools`` are plain functions, decorated with `perdure.tool` or not.
    ``agents`` are those that a request may name; a path is that of an agent file. ``orders`` are given one after the
    other, each when its moment has come.

    Raises AssertionError when the script ran out, when a moment never came, or when replies are left, which ``partly``
    allows: the test describes another run than the one that happened. AgentFileError for a file that cannot be used.
    """
    request = RunRequest(message=request) if isinstance(request, str) else request
    toolbox = tools if isinstance(tools, Toolbox) else Toolbox(map(tool_from, tools))
    specs = [read_agent(agent).spec if isinstance(agent, Path) else agent for agent in agents]
    engine = _Engine(script, toolbox, {spec.name: spec for spec in specs}, machine, list(orders))
    await engine.run(run_id, request)
    if wrong := mismatch(engine.state, engine.provider, engine.planned, partly=partly):
        raise AssertionError(wrong)
    return RunRecord(engine.state, tuple(engine.events), tuple(engine.provider.requests))


class _Engine:
    def __init__(
        self,
        script: Script,
        toolbox: Toolbox,
        agents: dict[str, AgentSpec],
        machine: MachineFacts,
        planned: list[Planned],
    ) -> None:
        self.provider = ScriptedProvider(script)
        self.planned = planned
        self.events: list[DurableEvent] = []
        self._toolbox = toolbox
        self._agents = agents
        self._machine = machine
        self._now = BEGIN
        self._work: dict[str, _Work] = {}
        self._said = ""
        self._judgings = 0
        self._loop: Loop

    @property
    def state(self) -> State:
        return self._loop.state

    async def run(self, run_id: str, request: RunRequest) -> None:
        self._loop, first = Loop.begin(run_id, request, self._now)
        self._open(first)
        try:
            while True:
                self._give_orders()
                if ended(self.state):
                    return
                if self._work:
                    await self._take_outcomes()
                elif (wake := wake_at(self.state)) is not None:
                    self._now = max(self._now, wake)
                    self._feed(ClockReached(at=self._now))
                else:
                    return
        finally:
            await self._abandon()

    def _give_orders(self) -> None:
        while self.planned and not ended(self.state) and self.planned[0].due(Moment(self.state, self._said)):
            match self.planned.pop(0).order:
                case Cancel() as order:
                    self._feed(CancelReceived(at=self._now, order=order))
                case order:
                    self._feed(Received(at=self._now, order=order))

    async def _take_outcomes(self) -> None:
        await asyncio.wait([work.task for work in self._work.values()], return_when=asyncio.FIRST_COMPLETED)
        ready = [key for key, work in self._work.items() if work.task.done()]
        for key in ready:
            self._feed(self._work.pop(key).outcome())
            self._give_orders()

    async def _abandon(self) -> None:
        tasks = [work.task for work in self._work.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _feed(self, outcome: AnyOutcome) -> None:
        self._now += TICK
        for advance in self._loop.feed(outcome.model_copy(update={"at": self._now})):
            self._open(advance)

    def _open(self, advance: Advance) -> None:
        self.events += narrate(advance)
        for instruction in advance.instructions:
            self._execute(advance.state, instruction)

    def _execute(self, state: State, instruction: Instruction) -> None:
        match instruction:
            case ResolveAgent():
                self._begin("agent", self._resolve_agent(state))
            case CallModel():
                self._call_model(state, instruction)
            case AuthorizeCalls():
                self._judgings += 1
                self._begin(f"judging {self._judgings}", self._authorize(state, instruction))
            case CallTools():
                assert state.turn is not None
                for call in state.turn.batch:
                    if call.call_id in instruction.call_ids:
                        self._call_tool(state, call)
            case StopWork():
                for key in (instruction.model_call, *instruction.call_ids):
                    if key in self._work:
                        self._work[key].task.cancel()
            case SettleCalls() | AskHumans() | RememberGrant() | Finish():
                pass  # The loop itself settles and finishes; open requests stand in the state.
            case _:
                assert_never(instruction)

    def _begin(self, key: str, work: Coroutine[Any, Any, AnyOutcome], stopped: AnyOutcome | None = None) -> None:
        self._work[key] = _Work(asyncio.create_task(work, name=key), stopped)

    async def _resolve_agent(self, state: State) -> AnyOutcome:
        query = agent_query(state)
        spec = query.agent if isinstance(query.agent, AgentSpec) else self._agents.get(query.agent)
        try:
            if spec is None:
                raise UnknownAgentError(str(query.agent), tuple(self._agents))
            limits = spec.limits
            if query.limits:
                limits = limits.model_copy(update=query.limits.model_dump(exclude_unset=True))
            workspace = query.workspace or self._machine.workspace
            models = layered(NamedModels(MODEL), spec, query)
            agent = freeze(
                spec,
                self._toolbox.specs,
                models.default,
                limits,
                workspace,
                output=query.output,
                fallbacks=models.fallbacks,
                models=models.purposes,
            )
        except PerdureError as error:
            return AgentRejected(at=self._now, failure=error.failure())
        return AgentResolved(at=self._now, agent=agent, rules_version=RULES_VERSION)

    def _call_model(self, state: State, instruction: CallModel) -> None:
        nothing = AssistantMessage(
            message_id=instruction.message_id, parts=(), model=instruction.model, finish="interrupted"
        )
        self._begin(
            instruction.message_id,
            self._model_outcome(state, instruction),
            ModelReply(at=self._now, message=nothing),
        )

    async def _model_outcome(self, state: State, instruction: CallModel) -> AnyOutcome:
        assert state.agent is not None
        attempts = ModelAttempts(state.run_id, instruction, self.provider, self._heard)
        answer = await attempts.answer(state.agent, state.messages)
        self._said = ""
        match answer:
            case AssistantMessage():
                return ModelReply(at=self._now, message=answer)
            case (failure, bill):
                return ModelFailure(at=self._now, message_id=instruction.message_id, failure=failure, bill=bill)

    def _heard(self, said: str) -> None:
        self._said = said
        self._give_orders()

    async def _authorize(self, state: State, instruction: AuthorizeCalls) -> AnyOutcome:
        judgement = judge(judge_request(state, instruction.call_ids, self._now), self._machine)
        return CallsJudged(at=self._now, verdicts=judgement.verdicts)

    def _call_tool(self, state: State, call: Call) -> None:
        stopped = call_result(call.part, "interrupted", STOPPED)
        self._begin(call.call_id, self._tool_outcome(state, call), CallsSettled(at=self._now, results=(stopped,)))

    async def _tool_outcome(self, state: State, call: Call) -> AnyOutcome:
        tool = self._toolbox.get(call.tool)
        assert tool is not None, "the agent was frozen with the tools of this toolbox"
        output = await run_tool(tool, call.part.arguments or {}, call_context(state, call))
        return CallsSettled(at=self._now, results=(tool_result(call.part, output.model_dump(mode="json")),))
