"""How servers that speak the same protocol differ: flags per server, said in one table and never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from perdure.contracts.record import FileRecord


class Dialect(FileRecord):
    """One server's way of speaking the protocol. The defaults are what most compatible servers do.

    ``system_role``: the role of the prompt. ``output_limit``: the parameter that bounds the answer. ``stream_usage``:
    whether ``stream_options`` may ask for usage. ``content_lists``: whether a user message may be a list of parts
    (images need it). ``call_ids``: ``short`` allows exactly nine letters and digits. ``reasoning_replay``: the field in
    which reasoning goes back to the model that thought it, together with its calls. ``user_after_tool``: whether a user
    message may follow a tool result directly. ``inline_thinking``: whether reasoning may come as ``<think>`` at the
    head of the text. ``hidden_output``: output tokens are what the total holds beyond the input, since the output count
    omits some. ``cache_key``: whether a request may say which conversation it belongs to, so that the server finds its
    prompt in the cache. ``web_search``: how the server is asked to search by itself, by ``web_search_options`` or by a
    tool of its own.

    For the Responses protocol alone: ``encrypted_reasoning`` asks for reasoning in a form that can go back, ``by_name``
    from the models that reason by OpenAI's names (the others refuse a request that asks). ``silent_cuts``: an answer
    that took all of its limit counts as cut, since the server calls it complete.

    For the Messages protocol and Gemini: ``thinking`` asks for the reasoning; it is a budget in tokens (of at least
    1,024), or ``adaptive`` for models that choose it themselves, or 0 to ask for nothing.
    """

    system_role: Literal["system", "developer"] = "system"
    output_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    content_lists: bool = True
    call_ids: Literal["any", "short"] = "any"
    reasoning_replay: Literal["none", "reasoning_content", "reasoning", "reasoning_details"] = "none"
    user_after_tool: bool = True
    inline_thinking: bool = True
    hidden_output: bool = False
    cache_key: bool = False
    web_search: Literal["options", "tool"] = "options"
    encrypted_reasoning: Literal["never", "by_name", "always"] = "never"
    silent_cuts: bool = False
    thinking: Literal["adaptive"] | int = 0


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "compatible": Dialect(),
        "openai": Dialect(
            output_limit="max_completion_tokens",
            inline_thinking=False,
            cache_key=True,
            encrypted_reasoning="by_name",
        ),
        "azure": Dialect(output_limit="max_completion_tokens", inline_thinking=False),
        "anthropic": Dialect(inline_thinking=False),
        "gemini": Dialect(inline_thinking=False, hidden_output=True),
        "xai": Dialect(output_limit="max_completion_tokens", inline_thinking=False, hidden_output=True),
        "deepseek": Dialect(content_lists=False, reasoning_replay="reasoning_content"),
        "moonshot": Dialect(reasoning_replay="reasoning_content"),
        "zai": Dialect(reasoning_replay="reasoning_content"),
        "openrouter": Dialect(reasoning_replay="reasoning_details", web_search="tool"),
        "groq": Dialect(output_limit="max_completion_tokens"),
        "cerebras": Dialect(output_limit="max_completion_tokens"),
        "mistral": Dialect(call_ids="short", user_after_tool=False, stream_usage=False, inline_thinking=False),
        "llamacpp": Dialect(reasoning_replay="reasoning_content", silent_cuts=True),
        "vllm": Dialect(reasoning_replay="reasoning"),
        "ollama": Dialect(reasoning_replay="reasoning"),
        "lmstudio": Dialect(),
    }
)
"""The dialects by name; the provider of the same name speaks it unless its settings say another."""
