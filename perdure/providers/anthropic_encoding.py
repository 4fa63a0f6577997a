"""A model request of ours as a request of Anthropic's Messages protocol.

What the protocol cannot carry is refused by name, or adapted as said here, never dropped in silence: messages of one
side become one message with the results of calls first, empty texts go, arguments that are no JSON become an object
that quotes them, and a request without tools whose history has calls names those tools and forbids their use. What
another provider did by itself stays away: the text beside it says what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from perdure.contracts.ids import is_tail
from perdure.contracts.messages import AssistantMessage, Message, ToolMessage, UserMessage
from perdure.contracts.prompts import ModelRequest
from perdure.providers.anthropic_caching import marked, marked_last
from perdure.providers.anthropic_parts import AssistantBlocks, user_block
from perdure.providers.dialects import Dialect
from perdure.providers.encoding import call_ids, result_text
from perdure.providers.hosted_tools import Keys, anthropic_servers, for_anthropic
from perdure.providers.lenient import Json, a_list, a_text, an_object
from perdure.providers.schemas import for_anthropic as for_anthropic_schema
from perdure.providers.tool_names import ToolNames, called_tools

_OUTPUT_LIMITS = (("claude-3-haiku", 4_096), ("claude-3-opus", 4_096), ("claude-3-5-", 8_192), ("", 32_000))
"""The output limit to send when none is asked for, by how the model's name begins: the protocol insists on one."""

_LEAST_THINKING = 1_024
"""The smallest thinking budget that the protocol takes, in tokens."""

EMPTY = "(This message is empty.)"
"""Sent for a user message that holds nothing, which servers refuse."""


def encode(
    request: ModelRequest,
    dialect: Dialect,
    *,
    provider: str,
    origin: str,
    names: ToolNames,
    now: datetime,
    keys: Keys | None = None,
) -> Json:
    """The body of a streaming request; ``origin`` is whose opaque data may go along, ``now`` says which is still good.

    ``keys`` are of MCP servers.

    Raises BadRequestError for a part that the protocol cannot carry.
    """
    model = request.model.partition(":")[2]
    blocks = AssistantBlocks(request, origin, names, call_ids(request))
    most = request.max_output_tokens or next(limit for start, limit in _OUTPUT_LIMITS if model.startswith(start))
    body: Json = {"model": model, "max_tokens": most}
    tools = _tools(request, names)
    if request.system:
        body["system"] = [marked({"type": "text", "text": request.system})]
    elif tools:
        tools[-1] = marked(tools[-1])
    body["messages"] = [*_messages(request, provider, blocks)]
    body["stream"] = True
    if tools:
        body["tools"] = [*tools]
    if request.must_call:
        body["tool_choice"] = {"type": "any"}
    elif tools and not request.tools and not request.hosted:
        body["tool_choice"] = {"type": "none"}
    if servers := anthropic_servers(request.hosted, keys or {}):
        body["mcp_servers"] = [*servers]
    if request.output_schema is not None and (schema := for_anthropic_schema(request.output_schema)):
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    if container := blocks.container(now):
        body["container"] = container
    # A model that thinks cannot be made to call.
    if not request.must_call and (thinking := _thinking(dialect, most)):
        body["thinking"] = thinking
    elif request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def continued(body: Json, content: list[Json], container: Json) -> Json:
    """``body`` with a paused answer at its end, for the provider to go on."""
    messages = [*a_list(body["messages"])]
    last = an_object(messages[-1])
    if last.get("role") == "assistant":
        messages[-1] = {**last, "content": [*a_list(last.get("content")), *content]}
    else:
        messages.append({"role": "assistant", "content": [*content]})
    identified = {"container": container["id"]} if container.get("id") else {}
    return {**body, "messages": messages, **identified}


def _tools(request: ModelRequest, names: ToolNames) -> list[Json]:
    if request.tools or request.hosted:
        ours: list[Json] = [
            {
                "name": names.sent(tool.name),
                "description": tool.description,
                "input_schema": {"type": "object", **tool.parameters},
            }
            for tool in request.tools
        ]
        return [*(for_anthropic(tool) for tool in request.hosted), *ours]
    return [{"name": names.sent(name), "input_schema": {"type": "object"}} for name in called_tools(request)]


def _thinking(dialect: Dialect, most: int) -> Json:
    if dialect.thinking == "adaptive":
        return {"type": "adaptive"}
    budget = min(dialect.thinking, most - 1)
    return {"type": "enabled", "budget_tokens": budget} if budget >= _LEAST_THINKING else {}


def _messages(request: ModelRequest, provider: str, blocks: AssistantBlocks) -> list[Json]:
    stable = [message for message in request.messages if not is_tail(message.message_id)]
    tail = request.messages[len(stable) :]
    merged = _merged((_role(message), _content(message, provider, blocks)) for message in stable)
    marked_last(merged)
    merged = _merged([*merged, *((_role(message), _content(message, provider, blocks)) for message in tail)])
    if merged and merged[-1][0] == "assistant":
        _without_trailing_space(merged[-1][1])
    return [{"role": role, "content": [*content]} for role, content in merged]


def _role(message: Message) -> str:
    return "assistant" if isinstance(message, AssistantMessage) else "user"


def _content(message: Message, provider: str, blocks: AssistantBlocks) -> list[Json]:
    match message:
        case UserMessage():
            said = [block for part in message.parts if (block := user_block(part, provider))]
            return said or [{"type": "text", "text": EMPTY}]
        case AssistantMessage():
            return [*blocks.of(message)]
        case ToolMessage():
            text = result_text(message)
            return [
                {
                    "type": "tool_result",
                    "tool_use_id": blocks.call_id(message.call_id),
                    **({"content": [{"type": "text", "text": text}]} if text.strip() else {}),
                    "is_error": message.status != "ok",
                }
            ]


def _merged(messages: Iterable[tuple[str, list[Json]]]) -> list[tuple[str, list[Json]]]:
    """One message for each run of one side's, since the protocol wants all results of a turn in one, and first."""
    merged: list[tuple[str, list[Json]]] = []
    for role, content in messages:
        if not content:
            continue
        if merged and merged[-1][0] == role:
            content = merged.pop()[1] + content
        if role == "user":
            content = sorted(content, key=lambda block: block["type"] != "tool_result")
        merged.append((role, content))
    return merged


def _without_trailing_space(content: list[Json]) -> None:
    last = content[-1]
    if last.get("type") == "text":
        content[-1] = {**last, "text": a_text(last.get("text")).rstrip()}
