"""The table of what models can do, from their vendors' documentation and recorded traffic; ``docs/models.md`` shows it.

A row is a pattern of ``provider:model`` and words: what such models have, and with ``-`` before it what they lack. Rows
are read from the top, and for each capability the first that speaks of it counts: single models come before families.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ONLY = "-chat -tools -images -audio -files -schema -web_search -code_execution -mcp"
"""Of models that do one other thing and do not converse."""

_TEXT = "-images -audio -files -schema -reasoning"
_OWN = "web_search code_execution mcp hosted_with_tools"
_FULL = f"tools images files schema schema_with_tools {_OWN}"

TABLE: Mapping[str, str] = MappingProxyType(
    {
        # OpenAI, by either protocol; what its own tools do is known to the Responses protocol alone.
        "openai*:text-embedding-*": f"embeddings {_ONLY}",
        "openai*:gpt-image-*": f"image_output images {_ONLY.replace(' -images', '')}",
        "openai*:dall-e-*": f"image_output {_ONLY}",
        "openai*:*-tts*": f"speech {_ONLY}",
        "openai*:tts-*": f"speech {_ONLY}",
        "openai*:*-transcribe*": f"transcription {_ONLY}",
        "openai*:whisper-*": f"transcription {_ONLY}",
        "openai*:sora-*": f"video_output {_ONLY}",
        "openai:gpt-*-search*": "web_search -tools -temperature schema -hosted_with_tools -images -audio",
        "openai:gpt-*audio*": "audio tools -images -files -schema",
        "openai*:gpt-3.5*": f"tools temperature {_TEXT} -web_search -code_execution -mcp",
        "openai*:gpt-4-turbo*": "tools images temperature -audio -files -schema -reasoning",
        "openai*:gpt-4o-2024-05-13": "tools images files temperature -audio -schema -reasoning",
        "openai*:gpt-4": f"tools temperature {_TEXT}",
        "openai*:gpt-4-0*": f"tools temperature {_TEXT}",
        "openai*:o1-mini*": "reasoning -tools -images -audio -files -schema -temperature",
        "openai*:o1-preview*": "reasoning -tools -images -audio -files -schema -temperature",
        "openai*:o3-mini*": "tools schema schema_with_tools reasoning -images -audio -temperature",
        "openai-responses:gpt-4o*": f"{_FULL} temperature",
        "openai-responses:gpt-4.1*": f"{_FULL} temperature",
        "openai-responses:o1*": f"{_FULL} reasoning -temperature",
        "openai-responses:o3*": f"{_FULL} reasoning -temperature",
        "openai-responses:o4*": f"{_FULL} reasoning -temperature",
        "openai-responses:gpt-5*-chat*": f"images files schema -reasoning {_OWN}",
        "openai-responses:gpt-5*": f"{_FULL} reasoning -temperature",
        "openai*:gpt-4*": "tools images files schema schema_with_tools temperature -audio -reasoning",
        "openai*:gpt-5*-chat*": "images files schema -audio -reasoning",
        "openai*:gpt-5*": "tools images files schema schema_with_tools reasoning -audio -temperature",
        "openai*:o1*": "tools images files schema schema_with_tools reasoning -audio -temperature",
        "openai*:o3*": "tools images files schema schema_with_tools reasoning -audio -temperature",
        "openai*:o4*": "tools images files schema schema_with_tools reasoning -audio -temperature",
        "openai:*": "-web_search -code_execution -mcp",
        "openai*:*": "-video_output",
        # Anthropic: schemas since Sonnet 4.5 and Opus 4.1, and no temperature since Opus 4.7.
        "anthropic:claude-3-*haiku*": "tools images temperature -audio -schema -reasoning -code_execution",
        "anthropic:claude-3-opus*": "tools images temperature -audio -schema -reasoning -web_search -code_execution",
        "anthropic:claude-3-5-*": (
            "tools images files temperature web_search hosted_with_tools -audio -schema -reasoning"
        ),
        "anthropic:claude-3-*": (
            "tools images files temperature reasoning web_search code_execution mcp hosted_with_tools -audio -schema"
        ),
        "anthropic:claude-opus-4-0*": "-schema",
        "anthropic:claude-opus-4-2*": "-schema",
        "anthropic:claude-sonnet-4-0*": "-schema",
        "anthropic:claude-sonnet-4-2*": "-schema",
        "anthropic:claude-opus-4-7*": "-temperature",
        "anthropic:claude-opus-4-8*": "-temperature",
        "anthropic:claude-*": (
            "tools images files temperature schema schema_with_tools reasoning web_search code_execution mcp "
            "hosted_with_tools -audio"
        ),
        "anthropic:*": "-embeddings -image_output -speech -transcription -video_output",
        # Gemini: before the third generation neither schemas nor Google's own tools go together with tools of ours.
        "gemini:*embedding*": f"embeddings {_ONLY}",
        "gemini:gemini-*-image*": "image_output images -tools -audio -schema -web_search -code_execution -mcp",
        "gemini:*-tts*": f"speech {_ONLY}",
        "gemini:imagen-*": f"image_output {_ONLY}",
        "gemini:veo-*": f"video_output {_ONLY}",
        "gemini:gemma-*": "-audio -schema -web_search -code_execution -mcp",
        "gemini:gemini-2.0-flash-lite*": "-web_search -code_execution",
        "gemini:gemini-2.0*": "-reasoning",
        "gemini:gemini-1*": "-reasoning",
        "gemini:gemini-1.*": "tools images audio files temperature -schema -web_search -mcp",
        "gemini:gemini-2.*": (
            "tools images audio files temperature schema reasoning web_search code_execution -mcp "
            "-schema_with_tools -hosted_with_tools"
        ),
        "gemini:gemini-*": (
            "tools images audio files temperature schema schema_with_tools reasoning web_search code_execution "
            "hosted_with_tools -mcp"
        ),
        "gemini:*": "-mcp -transcription",
        # Servers that speak OpenAI's chat protocol.
        "deepseek:*": "tools -images -audio -files -schema -web_search -code_execution -mcp",
        "groq:whisper-*": f"transcription {_ONLY}",
        "groq:*-tts*": f"speech {_ONLY}",
        "groq:meta-llama/llama-4*": "tools images -audio -files",
        "groq:openai/gpt-oss*": "tools reasoning -images -audio -files",
        # Groq takes no schema for an answer that is streamed or that may call tools.
        "groq:*": "-audio -schema -web_search -code_execution -mcp",
        "mistral:*-embed*": f"embeddings {_ONLY}",
        "mistral:voxtral-*-transcribe*": f"transcription {_ONLY}",
        "mistral:voxtral-*": "tools audio -images",
        "mistral:pixtral-*": "tools images schema -audio",
        "mistral:mistral-medium*": "tools images schema -audio",
        "mistral:mistral-small*": "tools images schema -audio",
        "mistral:magistral-*": "tools reasoning -audio",
        "mistral:codestral-*": "tools schema -images -audio",
        "mistral:*": "-web_search -code_execution -mcp",
        "xai:grok-code-*": "tools reasoning schema -images -audio",
        "xai:grok-3*": "tools schema -images -audio",
        "xai:grok-*": "tools images schema -audio",
        "xai:*": "-web_search -code_execution -mcp",
        "cerebras:*": "tools -schema_with_tools -images -audio -files -web_search -code_execution -mcp",
        "openrouter:*": "web_search hosted_with_tools -code_execution -mcp",
        "moonshot:kimi-k2-*": "tools -images -audio",
        "moonshot:*": "-web_search -code_execution -mcp",
        "zai:glm-*v*": "tools images -schema",
        "zai:glm-*": "tools reasoning -images -audio -schema",
        "zai:*": "-web_search -code_execution -mcp",
        "together:*": "-web_search -code_execution -mcp",
        "fireworks:*": "-web_search -code_execution -mcp",
        "huggingface:*": "-web_search -code_execution -mcp",
        # Servers on one's own machine: what a model has depends on its files. llama.cpp drops tools that a template has
        # no place for without a word, and takes no schema beside tools.
        "llamacpp:*": "schema -schema_with_tools -web_search -code_execution -mcp",
        "ollama:*": "schema -schema_with_tools -web_search -code_execution -mcp",
        "vllm:*": "schema -schema_with_tools -web_search -code_execution -mcp",
        "lmstudio:*": "schema -schema_with_tools -web_search -code_execution -mcp",
    }
)
"""Pattern to words."""
