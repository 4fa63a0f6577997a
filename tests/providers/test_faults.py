from __future__ import annotations

import json
from datetime import timedelta

import pytest

from perdure.contracts.errors import (
    AuthenticationError,
    BadReplyError,
    BadRequestError,
    ContextTooLongError,
    OverloadedError,
    ProviderError,
    ProviderTimeoutError,
    QuotaError,
    RateLimitedError,
    RefusedError,
)
from perdure.providers.faults import fault


def error(**fields: object) -> bytes:
    return json.dumps({"error": fields}).encode()


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, error(message="Incorrect API key", code="invalid_api_key"), AuthenticationError),
        (403, b"", AuthenticationError),
        (403, error(message="Your input was flagged", code=403), RefusedError),
        (402, error(message="Insufficient Balance"), QuotaError),
        (429, error(message="slow down", code="rate_limit_exceeded"), RateLimitedError),
        (429, error(message="You exceeded your quota", code="insufficient_quota"), QuotaError),
        (429, error(message="You exceeded your quota", type="insufficient_quota"), QuotaError),
        (429, b"", RateLimitedError),
        (400, error(message="too many", code="context_length_exceeded"), ContextTooLongError),
        (400, error(message="n_ctx", type="exceed_context_size_error", code=400), ContextTooLongError),
        (400, error(message="prompt is too long: 9 tokens > 8 maximum"), ContextTooLongError),
        (400, error(message="Input is too long for requested model."), ContextTooLongError),
        (400, error(message="Prompt exceeds max length", code="1261"), ContextTooLongError),
        (400, error(message="This model's maximum context length is 8192 tokens."), ContextTooLongError),
        (413, error(message="Request too large", code="rate_limit_exceeded"), ContextTooLongError),
        (400, error(message="max_tokens must be <= 4096"), BadRequestError),
        (400, error(message="bad", code="content_filter"), RefusedError),
        (400, error(message="bad", innererror={"code": "content_policy_violation"}), RefusedError),
        (400, error(message="bad call", code="tool_use_failed"), BadReplyError),
        (
            400,
            error(message="no", details=[{"reason": "API_KEY_INVALID"}], status="INVALID_ARGUMENT"),
            AuthenticationError,
        ),
        (404, error(message="no such model", code="model_not_found"), BadRequestError),
        (400, error(message="The prompt was flagged", code="invalid_prompt"), RefusedError),
        (400, error(message="Your credit balance is too low to access the Anthropic API."), QuotaError),
        (400, error(message="You have reached your specified API usage limits."), QuotaError),
        (408, b"", ProviderTimeoutError),
        (409, b"", OverloadedError),
        (422, b'{"detail":[{"loc":["body"],"msg":"field required"}]}', BadRequestError),
        (500, error(message="oops", type="server_error"), OverloadedError),
        (500, error(message="image input is not supported", type="server_error", code=500), BadRequestError),
        (422, error(message="field required", type="api_error"), BadRequestError),
        (400, error(message="bad", type="server_error", code=400), BadRequestError),
        (500, error(message="oops", type="api_error"), OverloadedError),
        (501, error(message="no embeddings", type="not_supported_error"), BadRequestError),
        (502, b"<html><body>Bad gateway</body></html>", OverloadedError),
        (503, b"", OverloadedError),
        (504, b"", ProviderTimeoutError),
        (529, error(message="Overloaded", type="overloaded_error"), OverloadedError),
        (302, b"", BadRequestError),
    ],
)
def test_status_and_body_say_what_kind_of_error_it_is(status: int, body: bytes, expected: type[ProviderError]) -> None:
    found = fault("openai", body, status=status)
    assert type(found) is expected
    assert found.status == status


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"error": {"message": "x", "type": "overloaded_error"}}, OverloadedError),
        ({"error": {"message": "x", "type": "server_error", "code": 500}}, OverloadedError),
        ({"error": {"message": "x", "code": 429}}, RateLimitedError),
        ({"error": {"message": "x", "code": "insufficient_quota"}}, QuotaError),
        ({"error": {"message": "x", "type": "invalid_request_error"}}, BadRequestError),
        ({"error": {"message": "x", "code": "invalid_image_url"}}, BadRequestError),
        ({"error": {"message": "Token limit reached", "code": 400}}, ContextTooLongError),
        ({"error": {"message": "x", "code": "tool_use_failed", "status_code": 400}}, BadReplyError),
        ({"error": "something broke"}, BadReplyError),
        ("something broke", BadReplyError),
        ({}, BadReplyError),
    ],
)
def test_an_error_inside_a_good_reply_is_known_by_its_own_words(value: object, expected: type[ProviderError]) -> None:
    assert type(fault("openai", value)) is expected  # type: ignore[arg-type] # any JSON value


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":"it broke"}}',
        b'[{"error":{"message":"it broke"}}]',
        b'{"error":"it broke"}',
        b'{"error":"{\\"message\\":\\"it broke\\"}"}',
        b'{"object":"error","message":"it broke"}',
        b'{"message":"it broke"}',
        b'{"detail":"it broke"}',
        b'{"detail":[{"msg":"it broke"}]}',
        b'{"message":{"detail":[{"msg":"it broke"}]}}',
        b'{"error":{"message":"","metadata":{"raw":"it broke"}}}',
        b"\n  it broke\n",
        b'{\n  "error": {\n    "message": "it broke"\n  }\n}\n',
    ],
)
def test_the_reason_is_found_in_any_envelope(body: bytes) -> None:
    assert str(fault("openai", body, status=500)) == "openai: it broke (status 500)"


@pytest.mark.parametrize("body", [b"", b"<!DOCTYPE html><html>x</html>", b"null", b"[]", b"{}", b"[" * 100_000])
def test_an_error_without_a_reason_still_says_something(body: bytes) -> None:
    said = str(fault("openai", body, status=500))
    assert said.startswith("openai: ")
    assert "<html" not in said


def test_a_code_that_only_repeats_the_status_is_not_said_twice() -> None:
    found = fault("openai", error(message="it broke", code=500, type="server_error"), status=500)
    assert str(found) == "openai: it broke (status 500, server_error)"


def test_the_parameter_that_was_refused_is_named() -> None:
    body = error(message="Unsupported value", param="temperature", code="unsupported_value")
    assert "temperature" in str(fault("openai", body, status=400))


def test_the_error_carries_wait_request_id_and_code() -> None:
    headers = {"retry-after": "2", "x-request-id": "req_1", "content-type": "application/octet-stream"}
    found = fault("openai", error(message="slow down", code="rate_limit_exceeded"), status=429, headers=headers)
    assert (found.retry_after, found.request_id, found.code) == (timedelta(seconds=2), "req_1", "rate_limit_exceeded")
    assert found.failure().provider_request_id == "req_1"


@pytest.mark.parametrize("name", ["request-id", "apim-request-id", "mistral-correlation-id", "cf-ray"])
def test_the_request_id_is_found_under_any_name(name: str) -> None:
    assert fault("openai", b"", status=500, headers={name: "abc"}).request_id == "abc"


def test_the_providers_word_on_retrying_wins() -> None:
    assert not fault("openai", b"", status=500, headers={"x-should-retry": "false"}).failure().retryable
    assert fault("openai", b"", status=400, headers={"x-should-retry": "true"}).failure().retryable


def test_a_wrong_model_is_the_operators_to_mend() -> None:
    assert fault("openai", error(message="no such model"), status=404).failure().attribution == "operator"


def test_neither_key_nor_base64_that_is_quoted_back_reaches_the_error() -> None:
    picture = "iVBORw0KGgo" * 30
    body = error(message=f"Bad key sk-secret-1 or image data:image/png;base64,{picture}", code="sk-secret-1")
    found = fault("openai", body, status=400, secrets=("sk-secret-1",))
    assert "sk-secret-1" not in str(found) + found.code
    assert picture[:50] not in str(found)


@pytest.mark.parametrize(("status", "code"), [(404, None), (400, "model_not_found")])
def test_a_model_that_is_not_there_is_for_the_operator_to_mend(status: int, code: str | None) -> None:
    found = fault("openai", error(message="no such model", code=code), status=status)
    assert (type(found), found.attribution) == (BadRequestError, "operator")


def test_the_requests_id_is_read_from_the_headers_else_from_the_body() -> None:
    body = b'{"type":"error","error":{"type":"api_error","message":"x"},"request_id":"req_body"}'
    assert fault("anthropic", body, status=500).request_id == "req_body"
    assert fault("anthropic", body, status=500, headers={"request-id": "req_head"}).request_id == "req_head"
