from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    ContextTooLongError,
    OverloadedError,
    ProviderError,
    RateLimitedError,
)
from perdure.providers.catalogue import ProviderSettings
from perdure.providers.gemini import GeminiProvider
from perdure.providers.gemini_encoding import path
from perdure.providers.registry import ProviderRegistry
from perdure.providers.stream import CallPiece, TextPiece
from tests.providers.gemini_serving import MODEL, answer, called, chunk, events, serving, text
from tests.providers.serving import KEY, SSE, asking, pieces_of, replying, service

WHOLE = events(chunk(text("Hi"), finish="STOP"))


async def test_the_request_goes_to_the_models_path_with_the_key_in_its_header_alone() -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, headers=SSE, content=WHOLE)

    await answer(handle)
    vertex = "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google"
    await answer(handle, base_url=vertex, key_header="authorization")
    assert [str(request.url) for request in seen] == [
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
        f"{vertex}/models/gemini-3-pro:streamGenerateContent?alt=sse",
    ]
    assert seen[0].headers["x-goog-api-key"] == KEY
    assert "authorization" not in seen[0].headers
    assert seen[1].headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(seen[0].content) == {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}


async def test_the_registry_leads_to_it_by_name_and_settings_change_what_it_asks_for() -> None:
    registry = ProviderRegistry(ProviderSettings(), {"GEMINI_API_KEY": KEY})
    provider = registry.open("gemini:gemini-2.5-flash")
    assert isinstance(provider, GeminiProvider)
    assert provider.origin == "gemini:generativelanguage.googleapis.com"
    await registry.close()
    bodies: list[bytes] = []

    def handle(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        return httpx.Response(200, headers=SSE, content=WHOLE)

    await answer(handle, flags={"thinking": "adaptive"})
    assert json.loads(bodies[0])["generationConfig"] == {"thinkingConfig": {"includeThoughts": True}}


def failing(code: int, **error: object) -> bytes:
    return json.dumps({"error": {"code": code, **error}}, indent=2).encode()


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            400,
            failing(
                400,
                message="API key not valid. Please pass a valid API key.",
                status="INVALID_ARGUMENT",
                details=[{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
            ),
            AuthenticationError,
        ),
        (400, failing(400, message="Invalid JSON payload received.", status="INVALID_ARGUMENT"), BadRequestError),
        (
            400,
            failing(
                400,
                message="The input token count (39) exceeds the maximum number of tokens allowed (20).",
                status="INVALID_ARGUMENT",
            ),
            ContextTooLongError,
        ),
        (403, failing(403, message="Permission denied", status="PERMISSION_DENIED"), AuthenticationError),
        (404, failing(404, message="models/x is not found", status="NOT_FOUND"), BadRequestError),
        (429, b"[" + failing(429, message="Quota", status="RESOURCE_EXHAUSTED") + b"]", RateLimitedError),
        (500, failing(500, message="An internal error has occurred.", status="INTERNAL"), OverloadedError),
        (503, failing(503, message="The model is overloaded.", status="UNAVAILABLE"), OverloadedError),
    ],
)
async def test_an_error_reply_is_typed_even_when_it_claims_to_be_a_stream(
    status: int, body: bytes, expected: type[ProviderError]
) -> None:
    with pytest.raises(ProviderError) as caught:
        await answer(replying(body, status=status, headers=SSE))
    assert type(caught.value) is expected
    assert (caught.value.status, caught.value.delivered) == (status, False)


async def test_the_wait_that_an_error_asks_for_stands_in_its_details() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"}]
    body = failing(429, message="Quota", status="RESOURCE_EXHAUSTED", details=details)
    with pytest.raises(RateLimitedError) as caught:
        await answer(replying(body, status=429))
    assert caught.value.retry_after == timedelta(seconds=34.4)


async def test_no_error_holds_the_key() -> None:
    with pytest.raises(ProviderError) as caught:
        await answer(replying(failing(400, message=f"bad key {KEY}", status="INVALID_ARGUMENT"), status=400))
    assert KEY not in str(caught.value)
    with pytest.raises(ProviderError) as inside:
        await answer(replying(events({"error": {"message": f"bad key {KEY}"}})))
    assert KEY not in str(inside.value)


async def test_a_gateways_done_adds_nothing() -> None:
    assert (await answer(replying(WHOLE + b"data: [DONE]\n\n"))).text == "Hi"
    with pytest.raises(BadReplyError):
        await answer(replying(events(chunk(text("half"))) + b"data: [DONE]\n\n"))


async def test_an_endpoint_of_ones_own_may_speak_it() -> None:
    transport = httpx.MockTransport(replying(WHOLE))
    served = service("mine", base_url="http://localhost:9/v1beta", protocol="gemini", transport=transport)
    provider = GeminiProvider(served)
    assert provider.origin == "gemini:localhost"
    pieces = await pieces_of(provider, asking(model="mine:x"))
    assert TextPiece("Hi") in pieces


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}, OverloadedError),
        ({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}, RateLimitedError),
        ({"message": "it broke"}, BadReplyError),
    ],
)
@pytest.mark.parametrize("array", [False, True])
async def test_an_error_inside_a_good_reply_is_the_error_it_stands_for(
    value: object, expected: type[ProviderError], array: bool
) -> None:
    values = [chunk(text("half")), value]
    with pytest.raises(ProviderError) as caught:
        await answer(replying(json.dumps(values).encode() if array else events(*values)))
    assert type(caught.value) is expected
    assert caught.value.delivered


async def test_a_tools_name_is_mapped_back_to_ours() -> None:
    asked = asking("fs.read", model=MODEL)
    provider = serving(replying(events(chunk(called("fs_read", {}), finish="STOP"))))
    pieces = await pieces_of(provider, asked)
    assert [piece.name for piece in pieces if isinstance(piece, CallPiece)] == ["fs.read"]


async def test_an_answer_without_content_is_an_error_that_is_tried_again() -> None:
    with pytest.raises(BadReplyError, match="empty") as caught:
        await answer(replying(events(chunk(text(""), finish="STOP"))))
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gemini:gemini-2.5-flash", "/models/gemini-2.5-flash:ask"),
        ("gemini:models/gemini-2.5-flash", "/models/gemini-2.5-flash:ask"),
        ("gemini:tunedModels/mine", "/tunedModels/mine:ask"),
        ("gemini:a b?key=c", "/models/a%20b%3Fkey%3Dc:ask"),
    ],
)
def test_the_model_stands_in_the_path(model: str, expected: str) -> None:
    assert path(model, "ask") == expected
