from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from perdure.providers.catalogue import LOCAL_PROVIDERS, Endpoint, ProviderSettings
from perdure.providers.choice import choose_model
from tests.providers.sockets import serve

NOWHERE = {name: Endpoint(base_url="http://127.0.0.1:9/v1", dialect=name) for name in LOCAL_PROVIDERS}


@asynccontextmanager
async def listing(*models: str) -> AsyncIterator[str]:
    """The base URL of a server that lists these models; without any it accepts and is silent."""
    body = json.dumps({"object": "list", "data": [{"id": model} for model in models]}).encode()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if models:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        else:
            await reader.read()

    async with serve(handle) as address:
        yield f"{address}/v1"


def at(**local: str) -> ProviderSettings:
    moved = {name: Endpoint(base_url=url, dialect=name) for name, url in local.items()}
    return ProviderSettings(endpoints={**NOWHERE, **moved})


async def test_the_model_that_is_named_is_taken() -> None:
    choice = await choose_model("groq:x", {"OPENAI_API_KEY": "sk"}, at())
    assert (choice.model, choice.why) == ("groq:x", "named")


@pytest.mark.parametrize(
    ("environ", "model", "why"),
    [
        ({"OPENAI_API_KEY": "sk"}, "openai:gpt-5-mini", "OPENAI_API_KEY is set"),
        ({"GROQ_API_KEY": "sk", "OPENAI_API_KEY": " "}, "groq:openai/gpt-oss-120b", "GROQ_API_KEY is set"),
        ({"GROQ_API_KEY": "sk", "ANTHROPIC_API_KEY": "sk"}, "anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY is set"),
    ],
)
async def test_else_a_key_in_the_environment_decides(environ: dict[str, str], model: str, why: str) -> None:
    choice = await choose_model(None, environ, at())
    assert (choice.model, choice.why) == (model, why)


async def test_else_a_server_on_this_machine_decides() -> None:
    async with listing("nomic-embed-text", "qwen3:8b") as url:
        choice = await choose_model(None, {}, at(llamacpp=url))
    assert choice.model == "llamacpp:qwen3:8b"
    assert url in choice.why


async def test_a_server_with_no_model_that_talks_or_no_answer_is_passed_over() -> None:
    async with listing("nomic-embed-text") as embedding, listing() as silent, listing("llama") as talking:
        choice = await choose_model(None, {}, at(ollama=embedding, lmstudio=silent, vllm=talking))
    assert choice.model == "vllm:llama"


async def test_else_the_demo_is_always_there() -> None:
    choice = await choose_model(None, {}, at())
    assert choice.model == "demo:demo"
    assert "no key" in choice.why


async def test_a_key_that_is_set_and_not_sent_is_told_beside_the_demo() -> None:
    settings = at(anthropic="http://127.0.0.1:9/v1")
    choice = await choose_model(None, {"ANTHROPIC_API_KEY": "sk"}, settings)
    assert choice.model == "demo:demo"
    assert choice.why.startswith("ANTHROPIC_API_KEY is not sent to the address that the settings say")
