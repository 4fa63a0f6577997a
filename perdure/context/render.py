"""Render: what the model gets to see of a run, by an ordered tuple of processors.

Stable parts come early and volatile ones late, so that two calls in a row share their prefix to the byte and a
provider's prompt cache holds.
"""

from __future__ import annotations

import json
from dataclasses import replace

from perdure.context.draft import Draft, Processor, append_system, append_tail
from perdure.context.repair import drop_placeholders, mend_arguments, pair_results
from perdure.contracts.agent import FrozenAgent
from perdure.contracts.errors import RenderError
from perdure.contracts.failures import bounded
from perdure.contracts.messages import Message
from perdure.contracts.prompts import ModelRequest

GUIDANCE = (
    "You have reached the limit of steps for this turn, and no tool can be called any more. Answer now, with what you "
    "know: give the result as far as it goes, and say plainly what is left undone."
)

NUDGE = (
    "You have made the same tool calls several times and got the same results each time. Making them again will bring "
    "nothing new: use what you have, try something else, or say what keeps you from going on."
)

SCHEMA = (
    "When you have the final answer, give it as JSON that fits this JSON Schema, and nothing else: no sentence before "
    "or after it, no fence around it."
)

MISFIT = "Your last answer does not fit the schema that was asked for. Give the whole answer again as JSON that fits."


def _system_prompt(draft: Draft) -> Draft:
    return append_system(draft, draft.agent.prompt)


def _offer_tools(draft: Draft) -> Draft:
    if draft.forced:
        return draft
    scope = draft.agent.scope
    return replace(draft, tools=tuple(tool for tool in draft.agent.tools if scope is None or tool.name in scope))


def _force_answer(draft: Draft) -> Draft:
    return append_tail(draft, "guidance", GUIDANCE) if draft.forced else draft


def _ask_for_schema(draft: Draft) -> Draft:
    if draft.agent.output is None:
        return draft
    schema = json.dumps(draft.agent.output, ensure_ascii=False)
    return append_system(draft, f"{SCHEMA}\n{schema}")


def _tell_problem(draft: Draft) -> Draft:
    return append_tail(draft, "problem", f"{MISFIT} {draft.problem}") if draft.problem else draft


def _nudge(draft: Draft) -> Draft:
    # Whoever must answer now cannot repeat anything any more.
    return append_tail(draft, "nudge", NUDGE) if draft.nudged and not draft.forced else draft


PIPELINE: tuple[Processor, ...] = (
    Processor("drop_placeholders", drop_placeholders),
    Processor("mend_arguments", mend_arguments),
    Processor("pair_results", pair_results),
    Processor("system_prompt", _system_prompt),
    Processor("output_schema", _ask_for_schema),
    Processor("offer_tools", _offer_tools),
    Processor("force_answer", _force_answer),
    Processor("nudge", _nudge),
    Processor("output_problem", _tell_problem),
)


def process(draft: Draft, pipeline: tuple[Processor, ...]) -> Draft:
    """The draft after every processor, in order. Raises RenderError, which names the processor that failed."""
    for processor in pipeline:
        try:
            draft = processor.function(draft)
        except Exception as error:
            raise RenderError(processor.name, bounded(f"{type(error).__name__}: {error}")) from error
    return draft


def render(
    agent: FrozenAgent,
    messages: tuple[Message, ...],
    *,
    forced: bool = False,
    nudged: bool = False,
    problem: str = "",
    pipeline: tuple[Processor, ...] = PIPELINE,
) -> ModelRequest:
    """The request for the agent's next reply to this transcript.

    ``forced`` asks for the answer now: no tools, and guidance as a last synthetic user message. ``nudged`` tells the
    model, in the same place, that it repeats itself, ``problem`` what is wrong with its last answer. Raises
    RenderError.
    """
    draft = process(Draft(agent=agent, messages=messages, forced=forced, nudged=nudged, problem=problem), pipeline)
    return ModelRequest(
        model=agent.model,
        system=draft.system,
        messages=draft.messages,
        tools=draft.tools,
        hosted=() if forced else agent.hosted,
        output_schema=agent.output,
    )
